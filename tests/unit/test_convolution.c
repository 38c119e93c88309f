#include <check.h>
Suite *convolution_suite(void); Suite *convolution_suite(void) { return suite_create("convolution"); }
