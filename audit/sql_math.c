/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite has SQL functions for these, which the index (index*.c) never calls. Defined here they are not looked for in libm: loading that
 * took a tenth of a millisecond of every start. mk/layers.sh sees to it that nobody else wants numbers.
 */
#include <math.h>

#define NO_NUMBER(name)                    \
	double name(double x)              \
	{                                  \
		(void)x;                   \
		return (double)NAN;        \
	}
#define NO_NUMBER_OF_TWO(name)             \
	double name(double x, double y)    \
	{                                  \
		(void)x;                   \
		(void)y;                   \
		return (double)NAN;        \
	}

NO_NUMBER(acos)
NO_NUMBER(acosh)
NO_NUMBER(asin)
NO_NUMBER(asinh)
NO_NUMBER(atan)
NO_NUMBER(atanh)
NO_NUMBER(cos)
NO_NUMBER(cosh)
NO_NUMBER(exp)
NO_NUMBER(log)
NO_NUMBER(sin)
NO_NUMBER(sinh)
NO_NUMBER(sqrt)
NO_NUMBER(tan)
NO_NUMBER(tanh)
NO_NUMBER(trunc)
NO_NUMBER_OF_TWO(atan2)
NO_NUMBER_OF_TWO(fmod)
NO_NUMBER_OF_TWO(pow)
