/* The functions of the module; exports.c says what they do. */
#ifndef WEB_EXPORTS_H
#define WEB_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __wasm__
#define VIEWER_EXPORT(name) __attribute__((export_name(#name)))
#else
#define VIEWER_EXPORT(name)
#endif

VIEWER_EXPORT(viewer_room) void *viewer_room(size_t size);
VIEWER_EXPORT(viewer_text) const char *viewer_text(void);
VIEWER_EXPORT(viewer_length) size_t viewer_length(void);
VIEWER_EXPORT(viewer_add_file)
int viewer_add_file(uint32_t place, uint32_t number, size_t name_len, double size);
VIEWER_EXPORT(viewer_open) int viewer_open(uint32_t place, uint32_t flags);
VIEWER_EXPORT(viewer_close) void viewer_close(uint32_t place);
VIEWER_EXPORT(viewer_show) int viewer_show(uint32_t place, double array_limit);
VIEWER_EXPORT(viewer_page) int viewer_page(uint32_t place);
VIEWER_EXPORT(viewer_check) int viewer_check(uint32_t place);
VIEWER_EXPORT(viewer_vocabulary)
int viewer_vocabulary(uint32_t place, size_t filter_len, double first, double count);
VIEWER_EXPORT(viewer_statistics)
int viewer_statistics(uint32_t place, double index, double limit);
VIEWER_EXPORT(viewer_compare) int viewer_compare(void);
VIEWER_EXPORT(viewer_compare_tensor) int viewer_compare_tensor(double index, double limit);
VIEWER_EXPORT(viewer_script) int viewer_script(uint32_t place, size_t len);

#endif
