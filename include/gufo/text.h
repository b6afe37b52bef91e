/* Floor 6: the room text, a separate library (libgufo_text): vocabularies and chat templates. */
#ifndef GUFO_TEXT_H
#define GUFO_TEXT_H

#include "template.h"
#include "vocab.h"

#endif
