//===- Elements.c - element types and how they are reduced ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI itself adds numbers that C has, and compares integers. The rest are
// operations of our own: maxima and minima of floats, since MPI says nothing
// of NaN, and whatever elements MPI lacks, which travel as bytes.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <math.h>
#include <string.h>

static const struct {
  const char *name;
  int64_t bytes;
} elements[] = {
#define SHARDONNAY_ELEMENT(name, spelling, bytes) {spelling, bytes},
    SHARDONNAY_ELEMENTS(SHARDONNAY_ELEMENT)
#undef SHARDONNAY_ELEMENT
};

const char *shardonnay_element_name(int64_t element) {
  return elements[element].name;
}

int64_t shardonnay_element_bytes(int64_t element) {
  return elements[element].bytes;
}

//===- Narrow floats ------------------------------------------------------===//

/* A format of `width` bits: a sign (or none), an exponent, a mantissa. Where
   `is_ieee`, the largest exponent is that of infinity and NaN; else only the
   pattern `nan` is no number, beside it with its sign. */
typedef struct {
  int width, mantissa, bias, has_sign, is_ieee;
  unsigned nan;
} Format;

static const Format *format_of(int64_t element) {
  static const Format bf16 = {16, 7, 127, 1, 1, 0x7fc0},
                      f16 = {16, 10, 15, 1, 1, 0x7e00},
                      f8e3m4 = {8, 4, 3, 1, 1, 0x78},
                      f8e4m3 = {8, 3, 7, 1, 1, 0x7c},
                      f8e4m3b11fnuz = {8, 3, 11, 1, 0, 0x80},
                      f8e4m3fn = {8, 3, 7, 1, 0, 0x7f},
                      f8e4m3fnuz = {8, 3, 8, 1, 0, 0x80},
                      f8e5m2 = {8, 2, 15, 1, 1, 0x7e},
                      f8e5m2fnuz = {8, 2, 16, 1, 0, 0x80},
                      f8e8m0fnu = {8, 0, 127, 0, 0, 0xff};
  switch (element) {
  case SHARDONNAY_BF16:
    return &bf16;
  case SHARDONNAY_F16:
    return &f16;
  case SHARDONNAY_F8E3M4:
    return &f8e3m4;
  case SHARDONNAY_F8E4M3:
    return &f8e4m3;
  case SHARDONNAY_F8E4M3B11FNUZ:
    return &f8e4m3b11fnuz;
  case SHARDONNAY_F8E4M3FN:
    return &f8e4m3fn;
  case SHARDONNAY_F8E4M3FNUZ:
    return &f8e4m3fnuz;
  case SHARDONNAY_F8E5M2:
    return &f8e5m2;
  case SHARDONNAY_F8E5M2FNUZ:
    return &f8e5m2fnuz;
  case SHARDONNAY_F8E8M0FNU:
    return &f8e8m0fnu;
  default:
    return NULL;
  }
}

static unsigned sign_bit(const Format *format) {
  return format->has_sign ? 1u << (format->width - 1) : 0;
}

static int is_nan(const Format *format, unsigned bits) {
  unsigned magnitude = bits & ~sign_bit(format);
  if (!format->is_ieee) /* E4M3FN has a NaN of either sign. */
    return bits == format->nan ||
           (format->nan != sign_bit(format) && magnitude == format->nan);
  unsigned top = ((1u << (format->width - 1 - format->mantissa)) - 1)
                 << format->mantissa;
  return magnitude > top;
}

static float decode(const Format *format, unsigned bits) {
  if (is_nan(format, bits))
    return NAN;
  unsigned magnitude = bits & ~sign_bit(format);
  int exponent = (int)(magnitude >> format->mantissa);
  int fraction = (int)(magnitude & ((1u << format->mantissa) - 1));
  int largest = (1 << (format->width - 1 - format->mantissa)) - 1;
  float value;
  if (format->is_ieee && exponent == largest)
    value = INFINITY;
  else if (exponent == 0 && format->has_sign)
    value = ldexpf((float)fraction, 1 - format->bias - format->mantissa);
  else
    value = ldexpf((float)(fraction + (1 << format->mantissa)),
                   exponent - format->bias - format->mantissa);
  return bits & sign_bit(format) ? -value : value;
}

/* The bits of the largest number, without its sign. */
static unsigned largest_of(const Format *format) {
  unsigned all = format->has_sign ? sign_bit(format) - 1 : 0xff;
  if (format->is_ieee) /* One less than infinity. */
    return (all & ~((1u << format->mantissa) - 1)) - 1;
  return format->nan == all ? all - 1 : all;
}

/* To the nearest, of two the even one. What is too large is infinity, or NaN
   where there is none. */
static unsigned encode(const Format *format, float value) {
  unsigned sign = signbit(value) ? sign_bit(format) : 0;
  if (isnan(value) || (!format->has_sign && value < 0))
    return format->nan;
  /* NaN stands where a negative zero would. */
  int has_negative_zero = format->nan != sign_bit(format);
  float magnitude = fabsf(value);
  unsigned beyond =
      format->is_ieee ? sign | (largest_of(format) + 1) : format->nan;
  if (!format->is_ieee && format->nan != sign_bit(format))
    beyond = sign | format->nan;
  if (isinf(value))
    return beyond;
  if (magnitude == 0)
    return has_negative_zero ? sign : 0;
  int exponent;
  frexpf(magnitude, &exponent);
  int least = format->has_sign ? 1 - format->bias : -format->bias;
  if (exponent - 1 < least)
    exponent = least + 1;
  /* In units of the last place: nearbyint rounds halves to even. */
  float units = nearbyintf(ldexpf(magnitude, format->mantissa + 1 - exponent));
  int64_t bits = (int64_t)units - (1 << format->mantissa) +
                 ((int64_t)(exponent - 1 + format->bias) << format->mantissa);
  if (bits > (int64_t)largest_of(format))
    return beyond;
  if (bits == 0 && !has_negative_zero)
    return 0;
  return sign | (unsigned)bits;
}

static unsigned read_bits(const Format *format, const void *at) {
  if (format->width == 8)
    return *(const uint8_t *)at;
  uint16_t bits;
  memcpy(&bits, at, 2);
  return bits;
}

static void write_bits(const Format *format, void *at, unsigned bits) {
  if (format->width == 8) {
    *(uint8_t *)at = (uint8_t)bits;
    return;
  }
  uint16_t narrow = (uint16_t)bits;
  memcpy(at, &narrow, 2);
}

//===- Operations of our own ----------------------------------------------===//

/* As arith.maximumf and minimumf: NaN wins, and 0 is more than -0. */
#define COMBINE_FLOAT(a, b, reduction)                                         \
  ((reduction) == SHARDONNAY_SUM ? (a) + (b)                                   \
   : isnan(a) || isnan(b)        ? (a) + (b)                                   \
   : (a) == (b)                                                                \
       ? ((reduction) == SHARDONNAY_MAX) == !signbit(a) ? (a) : (b)            \
       : (((a) > (b)) == ((reduction) == SHARDONNAY_MAX) ? (a) : (b)))

static void combine_narrow(const Format *format, int reduction,
                           const char *from, char *to, int64_t count) {
  int bytes = format->width / 8;
  for (int64_t i = 0; i < count * bytes; i += bytes) {
    float a = decode(format, read_bits(format, from + i));
    float b = decode(format, read_bits(format, to + i));
    write_bits(format, to + i, encode(format, COMBINE_FLOAT(a, b, reduction)));
  }
}

#define COMBINE_WIDE(type)                                                     \
  do {                                                                         \
    const type *a = (const type *)from;                                        \
    type *b = (type *)to;                                                      \
    for (int64_t i = 0; i < count; ++i)                                        \
      b[i] = COMBINE_FLOAT(a[i], b[i], reduction);                             \
  } while (0)

/* Integers of `width` bits, a byte each, the bits above them zero. */
static void combine_bits(int width, int reduction, const uint8_t *from,
                         uint8_t *to, int64_t count) {
  unsigned mask = (1u << width) - 1, sign = width == 1 ? 0 : 1u << (width - 1);
  for (int64_t i = 0; i < count; ++i) {
    /* Turned so that they are in order. */
    unsigned a = (from[i] & mask) ^ sign, b = (to[i] & mask) ^ sign, c;
    if (reduction == SHARDONNAY_SUM)
      c = from[i] + to[i];
    else
      c = ((a > b) == (reduction == SHARDONNAY_MAX) ? a : b) ^ sign;
    to[i] = (uint8_t)(c & mask);
  }
}

static void combine(int64_t element, int reduction, const void *from, void *to,
                    int64_t count) {
  const Format *format = format_of(element);
  if (format)
    combine_narrow(format, reduction, from, to, count);
  else if (element == SHARDONNAY_F32)
    COMBINE_WIDE(float);
  else if (element == SHARDONNAY_F64)
    COMBINE_WIDE(double);
  else
    combine_bits(element == SHARDONNAY_I1   ? 1
                 : element == SHARDONNAY_I2 ? 2
                                            : 4,
                 reduction, from, to, count);
}

/* MPI tells an operation the datatype and nothing else, so there is one for
   each element and reduction. */
#define OWN(X)                                                                 \
  X(I1)                                                                        \
  X(I2) X(I4) X(F8E3M4) X(F8E4M3) X(F8E4M3B11FNUZ) X(F8E4M3FN) X(F8E4M3FNUZ)   \
      X(F8E5M2) X(F8E5M2FNUZ) X(F8E8M0FNU) X(BF16) X(F16) X(F32) X(F64)
#define FUNCTION(name, reduction)                                              \
  static void name##_##reduction(void *from, void *to, int *count,             \
                                 MPI_Datatype *type) {                         \
    (void)type;                                                                \
    combine(SHARDONNAY_##name, SHARDONNAY_##reduction, from, to, *count);      \
  }
#define FUNCTIONS(name)                                                        \
  FUNCTION(name, SUM) FUNCTION(name, MAX) FUNCTION(name, MIN)
OWN(FUNCTIONS)

static MPI_User_function *own_function(int64_t element, int64_t reduction) {
  switch (element * 3 + reduction) {
#define CASE(name, reduction)                                                  \
  case SHARDONNAY_##name * 3 + SHARDONNAY_##reduction:                         \
    return name##_##reduction;
#define CASES(name) CASE(name, SUM) CASE(name, MAX) CASE(name, MIN)
    OWN(CASES)
  default:
    return NULL;
  }
}

//===- What MPI is told ---------------------------------------------------===//

static MPI_Datatype native_type(int64_t element) {
  switch (element) {
  case SHARDONNAY_I8:
    return MPI_INT8_T;
  case SHARDONNAY_I16:
    return MPI_INT16_T;
  case SHARDONNAY_I32:
    return MPI_INT32_T;
  case SHARDONNAY_I64:
  case SHARDONNAY_INDEX:
    return MPI_INT64_T;
  case SHARDONNAY_UI8:
    return MPI_UINT8_T;
  case SHARDONNAY_UI16:
    return MPI_UINT16_T;
  case SHARDONNAY_UI32:
    return MPI_UINT32_T;
  case SHARDONNAY_UI64:
    return MPI_UINT64_T;
  case SHARDONNAY_F32:
    return MPI_FLOAT;
  case SHARDONNAY_F64:
    return MPI_DOUBLE;
  case SHARDONNAY_C64:
    return MPI_C_FLOAT_COMPLEX;
  case SHARDONNAY_C128:
    return MPI_C_DOUBLE_COMPLEX;
  default:
    return MPI_DATATYPE_NULL;
  }
}

/* Made when they are first asked for. */
static ShardonnayCombiner own[SHARDONNAY_NUM_ELEMENTS * 3];
static char is_made[SHARDONNAY_NUM_ELEMENTS * 3];

static ShardonnayCombiner own_combiner(int64_t reduction, int64_t element) {
  int64_t at = element * 3 + reduction;
  if (!is_made[at]) {
    MPI_Type_contiguous((int)shardonnay_element_bytes(element), MPI_BYTE,
                        &own[at].type);
    MPI_Type_commit(&own[at].type);
    MPI_Op_create(own_function(element, reduction), /*commute=*/1, &own[at].op);
    is_made[at] = 1;
  }
  return own[at];
}

ShardonnayCombiner shardonnay_combiner(int64_t reduction, int64_t element) {
  int is_float = element == SHARDONNAY_F32 || element == SHARDONNAY_F64;
  MPI_Datatype type = native_type(element);
  if (type == MPI_DATATYPE_NULL || (is_float && reduction != SHARDONNAY_SUM))
    return own_combiner(reduction, element);
  MPI_Op op = reduction == SHARDONNAY_SUM   ? MPI_SUM
              : reduction == SHARDONNAY_MAX ? MPI_MAX
                                            : MPI_MIN;
  ShardonnayCombiner combiner = {type, op};
  return combiner;
}

void shardonnay_free_combiners(void) {
  for (int64_t at = 0; at < SHARDONNAY_NUM_ELEMENTS * 3; ++at)
    if (is_made[at]) {
      MPI_Type_free(&own[at].type);
      MPI_Op_free(&own[at].op);
      is_made[at] = 0;
    }
}

MPI_Datatype shardonnay_block(int64_t bytes) {
  MPI_Datatype block;
  if (bytes <= SHARDONNAY_MOST_COUNTED) {
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &block);
  } else {
    /* So many whole chunks, and the rest behind them. */
    MPI_Datatype parts[2], chunk;
    MPI_Type_contiguous(SHARDONNAY_MOST_COUNTED, MPI_BYTE, &chunk);
    MPI_Type_contiguous((int)(bytes / SHARDONNAY_MOST_COUNTED), chunk,
                        &parts[0]);
    MPI_Type_contiguous((int)(bytes % SHARDONNAY_MOST_COUNTED), MPI_BYTE,
                        &parts[1]);
    int counts[2] = {1, 1};
    MPI_Aint starts[2] = {0,
                          (MPI_Aint)(bytes - bytes % SHARDONNAY_MOST_COUNTED)};
    MPI_Type_create_struct(2, counts, starts, parts, &block);
    MPI_Type_free(&chunk);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
  }
  MPI_Type_commit(&block);
  return block;
}
