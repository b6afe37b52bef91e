// ours.c is a program in both languages.
#include "ours.c"
