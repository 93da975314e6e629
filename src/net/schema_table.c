/* Written by tools/onnx/generate.py from onnx 1.23.2 and onnxruntime 1.32.0. */
#include "net/schema.h"

#include <math.h>

static const int64_t ints0[] = {
    0,
    2,
    3,
};

static const struct tn_schema_types types0[] = {
    {.name = "T", .tensor = 0xc02},
};

static const struct tn_schema_types types1[] = {
    {.name = "T", .tensor = 0x3cfe},
};

static const struct tn_schema_types types2[] = {
    {.name = "T", .tensor = 0x13cfe},
};

static const struct tn_schema_types types3[] = {
    {.name = "T", .tensor = 0x10c02},
};

static const struct tn_schema_types types4[] = {
    {.name = "T", .tensor = 0x3cc2},
};

static const struct tn_schema_types types5[] = {
    {.name = "T", .tensor = 0x13cc2},
};

static const struct tn_schema_types types6[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x80},
};

static const struct tn_schema_types types7[] = {
    {.name = "T", .tensor = 0x200},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types8[] = {
    {.name = "T", .tensor = 0x3cfe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types9[] = {
    {.name = "T", .tensor = 0x13cfe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types10[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x10c02},
    {.name = "U", .tensor = 0x13efe},
};

static const struct tn_schema_types types11[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x10c02},
    {.name = "U", .tensor = 0x13efe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types12[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "U", .tensor = 0x10c02},
};

static const struct tn_schema_types types13[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x10c02},
};

static const struct tn_schema_types types14[] = {
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x13efe},
};

static const struct tn_schema_types types15[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x13efe},
};

static const struct tn_schema_types types16[] = {
    {.name = "T1", .tensor = 0x7fffefe},
    {.name = "T2", .tensor = 0x7fffefe},
};

static const struct tn_schema_types types17[] = {
    {.name = "T", .tensor = 0x3014},
};

static const struct tn_schema_types types18[] = {
    {.name = "T", .tensor = 0x30fc},
};

static const struct tn_schema_types types19[] = {
    {.name = "T1", .tensor = 0xc0},
    {.name = "T2", .tensor = 0x13cfe},
};

static const struct tn_schema_types types20[] = {
    {.name = "T1", .tensor = 0x3efe},
    {.name = "T2", .tensor = 0x3efe},
};

static const struct tn_schema_types types21[] = {
    {.name = "T1", .tensor = 0x3ffe},
    {.name = "T2", .tensor = 0x3ffe},
};

static const struct tn_schema_types types22[] = {
    {.name = "T1", .tensor = 0x13ffe},
    {.name = "T2", .tensor = 0x13ffe},
};

static const struct tn_schema_types types23[] = {
    {.name = "T1", .tensor = 0x1f3ffe},
    {.name = "T2", .tensor = 0x1f3ffe},
};

static const struct tn_schema_types types24[] = {
    {.name = "T1", .tensor = 0x7f3ffe},
    {.name = "T2", .tensor = 0x7f3ffe},
};

static const struct tn_schema_types types25[] = {
    {.name = "T1", .tensor = 0xff3ffe},
    {.name = "T2", .tensor = 0xff3ffe},
};

static const struct tn_schema_types types26[] = {
    {.name = "T1", .tensor = 0x1ff3ffe},
    {.name = "T2", .tensor = 0x1ff3ffe},
};

static const struct tn_schema_types types27[] = {
    {.name = "T1", .tensor = 0x7ff3ffe},
    {.name = "T2", .tensor = 0x7ff3ffe},
};

static const struct tn_schema_types types28[] = {
    {.name = "T1", .tensor = 0x1fff3ffe},
    {.name = "T2", .tensor = 0x1fff3ffe},
};

static const struct tn_schema_types types29[] = {
    {.name = "T", .tensor = 0x10402},
};

static const struct tn_schema_types types30[] = {
    {.name = "T", .tensor = 0x2},
};

static const struct tn_schema_types types31[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "Tind", .tensor = 0xc0},
};

static const struct tn_schema_types types32[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types33[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types34[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types35[] = {
    {.name = "T", .tensor = 0xfffe},
};

static const struct tn_schema_types types36[] = {
    {.name = "T", .tensor = 0x1fffe},
};

static const struct tn_schema_types types37[] = {
    {.name = "S", .sequence = 0xfffe},
    {.name = "T", .tensor = 0xfffe},
};

static const struct tn_schema_types types38[] = {
    {.name = "T", .tensor = 0x1ffffe},
};

static const struct tn_schema_types types39[] = {
    {.name = "T", .tensor = 0x7ffffe},
};

static const struct tn_schema_types types40[] = {
    {.name = "T", .tensor = 0xfffffe},
};

static const struct tn_schema_types types41[] = {
    {.name = "T", .tensor = 0x1fffffe},
};

static const struct tn_schema_types types42[] = {
    {.name = "T", .tensor = 0x7fffffe},
};

static const struct tn_schema_types types43[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0x3efe},
};

static const struct tn_schema_types types44[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0x1f3efe},
};

static const struct tn_schema_types types45[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0x7f3efe},
};

static const struct tn_schema_types types46[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0xff3efe},
};

static const struct tn_schema_types types47[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0x1ff3efe},
};

static const struct tn_schema_types types48[] = {
    {.name = "T1", .tensor = 0x80},
    {.name = "T2", .tensor = 0x7ff3efe},
};

static const struct tn_schema_types types49[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0xc},
    {.name = "T3", .tensor = 0x40},
};

static const struct tn_schema_types types50[] = {
    {.name = "T", .tensor = 0x13cc2},
    {.name = "T2", .tensor = 0xc0},
};

static const struct tn_schema_types types51[] = {
    {.name = "T", .tensor = 0x38c2},
    {.name = "T2", .tensor = 0xc0},
};

static const struct tn_schema_types types52[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0xc0},
};

static const struct tn_schema_types types53[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types54[] = {
    {.name = "T", .tensor = 0x4c},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types55[] = {
    {.name = "T1", .tensor = 0x1e004c},
    {.name = "T2", .tensor = 0x10402},
};

static const struct tn_schema_types types56[] = {
    {.name = "T1", .tensor = 0x7e007c},
    {.name = "T2", .tensor = 0x10402},
};

static const struct tn_schema_types types57[] = {
    {.name = "T1", .tensor = 0xfe007c},
    {.name = "T2", .tensor = 0x10402},
    {.name = "T3", .tensor = 0x10402},
};

static const struct tn_schema_types types58[] = {
    {.name = "T1", .tensor = 0xfe007c},
    {.name = "T2", .tensor = 0x1010402},
    {.name = "T3", .tensor = 0x10402},
};

static const struct tn_schema_types types59[] = {
    {.name = "T1", .tensor = 0x6fe007c},
    {.name = "T2", .tensor = 0x1010402},
    {.name = "T3", .tensor = 0x10402},
};

static const struct tn_schema_types types60[] = {
    {.name = "T1", .tensor = 0x1efe007c},
    {.name = "T2", .tensor = 0x1010402},
    {.name = "T3", .tensor = 0x10402},
};

static const struct tn_schema_types types61[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types62[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types63[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types64[] = {
    {.name = "T", .tensor = 0x1f0c02},
    {.name = "T1", .tensor = 0x1f0c02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types65[] = {
    {.name = "T1", .tensor = 0x2},
    {.name = "T2", .tensor = 0x4},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types66[] = {
    {.name = "T", .tensor = 0x2c0},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types67[] = {
    {.name = "T", .tensor = 0x3efe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types68[] = {
    {.name = "T", .tensor = 0x13efe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types69[] = {
    {.name = "T", .tensor = 0x13ffe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types70[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types71[] = {
    {.name = "T1", .tensor = 0x13efe},
    {.name = "T2", .tensor = 0x13efe},
};

static const struct tn_schema_types types72[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "T1", .tensor = 0x40},
};

static const struct tn_schema_types types73[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "T1", .tensor = 0x40},
};

static const struct tn_schema_types types74[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "Tind", .tensor = 0xc0},
};

static const struct tn_schema_types types75[] = {
    {.name = "T", .tensor = 0x3cfe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types76[] = {
    {.name = "T", .tensor = 0x13cfe},
    {.name = "T1", .tensor = 0x200},
};

static const struct tn_schema_types types77[] = {
    {.name = "T1", .tensor = 0xfffe},
    {.name = "T2", .tensor = 0xc02},
};

static const struct tn_schema_types types78[] = {
    {.name = "T1", .tensor = 0x1fffe},
    {.name = "T2", .tensor = 0x10c02},
};

static const struct tn_schema_types types79[] = {
    {.name = "V", .sequence = 0xfffe, .tensor = 0x1fffe},
};

static const struct tn_schema_types types80[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0x1fffe},
};

static const struct tn_schema_types types81[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0x1ffffe},
};

static const struct tn_schema_types types82[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0x7ffffe},
};

static const struct tn_schema_types types83[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0xfffffe},
};

static const struct tn_schema_types types84[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0x1fffffe},
};

static const struct tn_schema_types types85[] = {
    {.name = "V", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0x7fffffe},
};

static const struct tn_schema_types types86[] = {
    {.name = "V", .tensor = 0xfffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types87[] = {
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types88[] = {
    {.name = "V", .optional = 0x1fffe, .optional_sequence = 0x1fffe, .sequence = 0x1fffe, .tensor = 0x1fffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types89[] = {
    {.name = "V", .optional = 0x1ffffe, .optional_sequence = 0x1fffe, .sequence = 0x1ffffe, .tensor = 0x1ffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types90[] = {
    {.name = "V", .optional = 0x7ffffe, .optional_sequence = 0x1fffe, .sequence = 0x7ffffe, .tensor = 0x7ffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types91[] = {
    {.name = "V", .optional = 0xfffffe, .optional_sequence = 0x1fffe, .sequence = 0xfffffe, .tensor = 0xfffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types92[] = {
    {.name = "V", .optional = 0x1fffffe, .optional_sequence = 0x1fffe, .sequence = 0x1fffffe, .tensor = 0x1fffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types93[] = {
    {.name = "V", .optional = 0x7fffffe, .optional_sequence = 0x1fffe, .sequence = 0x7fffffe, .tensor = 0x7fffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types94[] = {
    {.name = "T1", .tensor = 0x4},
    {.name = "T2", .tensor = 0x4},
};

static const struct tn_schema_types types95[] = {
    {.name = "T1", .tensor = 0x802},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types96[] = {
    {.name = "T1", .tensor = 0x1f0c02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types97[] = {
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types98[] = {
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types99[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "U", .tensor = 0x10002},
};

static const struct tn_schema_types types100[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "S", .tensor = 0x10402},
};

static const struct tn_schema_types types101[] = {
    {.name = "V", .tensor = 0xfffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types102[] = {
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types103[] = {
    {.name = "V", .optional = 0x1fffe, .optional_sequence = 0x1fffe, .sequence = 0x1fffe, .tensor = 0x1fffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types104[] = {
    {.name = "V", .optional = 0x1ffffe, .optional_sequence = 0x1fffe, .sequence = 0x1ffffe, .tensor = 0x1ffffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types105[] = {
    {.name = "V", .optional = 0x7ffffe, .optional_sequence = 0x1fffe, .sequence = 0x7ffffe, .tensor = 0x7ffffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types106[] = {
    {.name = "V", .optional = 0xfffffe, .optional_sequence = 0x1fffe, .sequence = 0xfffffe, .tensor = 0xfffffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types107[] = {
    {.name = "V", .optional = 0x1fffffe, .optional_sequence = 0x1fffe, .sequence = 0x1fffffe, .tensor = 0x1fffffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types108[] = {
    {.name = "V", .optional = 0x7fffffe, .optional_sequence = 0x1fffe, .sequence = 0x7fffffe, .tensor = 0x7fffffe},
    {.name = "I", .tensor = 0x80},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types109[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "I", .tensor = 0x80},
};

static const struct tn_schema_types types110[] = {
    {.name = "T", .tensor = 0xc0e},
    {.name = "I", .tensor = 0x80},
};

static const struct tn_schema_types types111[] = {
    {.name = "T", .tensor = 0x10c0e},
    {.name = "I", .tensor = 0x80},
};

static const struct tn_schema_types types112[] = {
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x80},
};

static const struct tn_schema_types types113[] = {
    {.name = "T1", .tensor = 0xc0},
    {.name = "T2", .tensor = 0x10c02},
    {.name = "T3", .tensor = 0x13cfe},
};

static const struct tn_schema_types types114[] = {
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0xc0},
};

static const struct tn_schema_types types115[] = {
    {.name = "T", .tensor = 0xcea},
};

static const struct tn_schema_types types116[] = {
    {.name = "T", .tensor = 0x10cea},
};

static const struct tn_schema_types types117[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "Tind", .tensor = 0xc0},
};

static const struct tn_schema_types types118[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "Tind", .tensor = 0xc0},
};

static const struct tn_schema_types types119[] = {
    {.name = "tensor(float)", .tensor = 0x2},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types120[] = {
    {.name = "T", .tensor = 0x200},
};

static const struct tn_schema_types types121[] = {
    {.name = "T1", .tensor = 0x3cfe},
    {.name = "T2", .tensor = 0x3cfe},
    {.name = "T3", .tensor = 0xfffe},
};

static const struct tn_schema_types types122[] = {
    {.name = "T1", .tensor = 0x3cfe},
    {.name = "T2", .tensor = 0x3cfe},
    {.name = "T3", .tensor = 0x1fffe},
};

static const struct tn_schema_types types123[] = {
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
    {.name = "O", .optional = 0xfffe, .optional_sequence = 0xfffe},
};

static const struct tn_schema_types types124[] = {
    {.name = "V", .sequence = 0x1ffffffe, .tensor = 0x1ffffffe},
    {.name = "O", .optional = 0x1ffffffe, .optional_sequence = 0x1ffffffe},
};

static const struct tn_schema_types types125[] = {
    {.name = "O", .optional = 0xfffe, .optional_sequence = 0xfffe},
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
};

static const struct tn_schema_types types126[] = {
    {.name = "O", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0xfffe},
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
};

static const struct tn_schema_types types127[] = {
    {.name = "O", .optional = 0x1ffffffe, .optional_sequence = 0x1ffffffe, .sequence = 0x1ffffffe, .tensor = 0x1ffffffe},
    {.name = "V", .sequence = 0x1ffffffe, .tensor = 0x1ffffffe},
};

static const struct tn_schema_types types128[] = {
    {.name = "O", .optional = 0xfffe, .optional_sequence = 0xfffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types129[] = {
    {.name = "O", .optional = 0xfffe, .optional_sequence = 0xfffe, .sequence = 0xfffe, .tensor = 0xfffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types130[] = {
    {.name = "O", .optional = 0x1ffffffe, .optional_sequence = 0x1ffffffe, .sequence = 0x1ffffffe, .tensor = 0x1ffffffe},
    {.name = "B", .tensor = 0x200},
};

static const struct tn_schema_types types131[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "Tind", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types132[] = {
    {.name = "T", .tensor = 0x7ffffe},
    {.name = "Tind", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types133[] = {
    {.name = "T", .tensor = 0xfffffe},
    {.name = "Tind", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types134[] = {
    {.name = "T", .tensor = 0x1fffffe},
    {.name = "Tind", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types135[] = {
    {.name = "T", .tensor = 0x7fffffe},
    {.name = "Tind", .tensor = 0xc0},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types136[] = {
    {.name = "T", .tensor = 0xcc2},
    {.name = "T1", .tensor = 0x3cfe},
};

static const struct tn_schema_types types137[] = {
    {.name = "T", .tensor = 0x10cc2},
    {.name = "T1", .tensor = 0x3cfe},
};

static const struct tn_schema_types types138[] = {
    {.name = "T", .tensor = 0x10cc2},
    {.name = "T1", .tensor = 0x13cfe},
};

static const struct tn_schema_types types139[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0xc},
    {.name = "T3", .tensor = 0xc},
    {.name = "T4", .tensor = 0x40},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types140[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0xc},
    {.name = "T3", .tensor = 0xc},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types141[] = {
    {.name = "TS", .tensor = 0x10402},
    {.name = "T1", .tensor = 0x1e000c},
    {.name = "T2", .tensor = 0x1e000c},
    {.name = "T3", .tensor = 0x1e000c},
};

static const struct tn_schema_types types142[] = {
    {.name = "T1", .tensor = 0x42},
    {.name = "T2", .tensor = 0xc},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types143[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x1e000c},
};

static const struct tn_schema_types types144[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x7e003c},
};

static const struct tn_schema_types types145[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x10442},
    {.name = "T3", .tensor = 0xfe003c},
};

static const struct tn_schema_types types146[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x1010442},
    {.name = "T3", .tensor = 0xfe003c},
};

static const struct tn_schema_types types147[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x1010442},
    {.name = "T3", .tensor = 0x6fe003c},
};

static const struct tn_schema_types types148[] = {
    {.name = "T1", .tensor = 0x10442},
    {.name = "T2", .tensor = 0x1010442},
    {.name = "T3", .tensor = 0x1efe003c},
};

static const struct tn_schema_types types149[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "V", .tensor = 0x10c02},
};

static const struct tn_schema_types types150[] = {
    {.name = "T", .tensor = 0x8e2},
};

static const struct tn_schema_types types151[] = {
    {.name = "T", .tensor = 0x10ce2},
};

static const struct tn_schema_types types152[] = {
    {.name = "T", .tensor = 0x13cc2},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types153[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types154[] = {
    {.name = "T", .tensor = 0x3cce},
};

static const struct tn_schema_types types155[] = {
    {.name = "T", .tensor = 0x13cce},
};

static const struct tn_schema_types types156[] = {
    {.name = "T", .tensor = 0x13cce},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types157[] = {
    {.name = "T", .tensor = 0x13ece},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types158[] = {
    {.name = "T1", .tensor = 0x100},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types159[] = {
    {.name = "T", .tensor = 0x1ffffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types160[] = {
    {.name = "T", .tensor = 0x7ffffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types161[] = {
    {.name = "T", .tensor = 0xfffffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types162[] = {
    {.name = "T", .tensor = 0x1fffffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types163[] = {
    {.name = "T", .tensor = 0x7fffffe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types164[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types165[] = {
    {.name = "T1", .tensor = 0xfffe},
    {.name = "T2", .tensor = 0xc02},
    {.name = "tensor(float)", .tensor = 0x2},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types166[] = {
    {.name = "T1", .tensor = 0x1fffe},
    {.name = "T2", .tensor = 0xc02},
    {.name = "tensor(float)", .tensor = 0x2},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types167[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "M", .tensor = 0x80},
};

static const struct tn_schema_types types168[] = {
    {.name = "I", .tensor = 0x80},
    {.name = "V", .tensor = 0xfffe},
};

static const struct tn_schema_types types169[] = {
    {.name = "V", .tensor = 0xfffe},
};

static const struct tn_schema_types types170[] = {
    {.name = "V", .tensor = 0x1fffe},
};

static const struct tn_schema_types types171[] = {
    {.name = "V", .tensor = 0x1ffffe},
};

static const struct tn_schema_types types172[] = {
    {.name = "V", .tensor = 0x7ffffe},
};

static const struct tn_schema_types types173[] = {
    {.name = "V", .tensor = 0xfffffe},
};

static const struct tn_schema_types types174[] = {
    {.name = "V", .tensor = 0x1fffffe},
};

static const struct tn_schema_types types175[] = {
    {.name = "V", .tensor = 0x7fffffe},
};

static const struct tn_schema_types types176[] = {
    {.name = "S", .sequence = 0xfffe},
    {.name = "T", .tensor = 0xfffe},
    {.name = "I", .tensor = 0xc0},
};

static const struct tn_schema_types types177[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "S", .sequence = 0xfffe},
};

static const struct tn_schema_types types178[] = {
    {.name = "S", .sequence = 0xfffe},
};

static const struct tn_schema_types types179[] = {
    {.name = "S", .sequence = 0xfffe},
    {.name = "I", .tensor = 0xc0},
};

static const struct tn_schema_types types180[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "S", .sequence = 0xfffe},
    {.name = "I", .tensor = 0xc0},
};

static const struct tn_schema_types types181[] = {
    {.name = "S", .sequence = 0xfffe},
    {.name = "I", .tensor = 0x80},
};

static const struct tn_schema_types types182[] = {
    {.name = "S", .sequence = 0xfffe},
    {.name = "V", .sequence = 0xfffe, .tensor = 0xfffe},
};

static const struct tn_schema_types types183[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types184[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types185[] = {
    {.name = "T", .tensor = 0x1ffffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types186[] = {
    {.name = "T", .tensor = 0x7ffffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types187[] = {
    {.name = "T", .tensor = 0xfffffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types188[] = {
    {.name = "T", .tensor = 0x1fffffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types189[] = {
    {.name = "T", .tensor = 0x7fffffe},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types190[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "U", .tensor = 0x802},
    {.name = "V", .tensor = 0x10c02},
};

static const struct tn_schema_types types191[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "I", .tensor = 0xc0},
    {.name = "S", .sequence = 0xfffe},
};

static const struct tn_schema_types types192[] = {
    {.name = "T", .tensor = 0x1fffe},
    {.name = "I", .tensor = 0xc0},
    {.name = "S", .sequence = 0x1fffe},
};

static const struct tn_schema_types types193[] = {
    {.name = "T", .tensor = 0x100},
};

static const struct tn_schema_types types194[] = {
    {.name = "tensor(string)", .tensor = 0x100},
};

static const struct tn_schema_types types195[] = {
    {.name = "T1", .tensor = 0x100},
    {.name = "T2", .tensor = 0x100},
    {.name = "T3", .tensor = 0x80},
};

static const struct tn_schema_types types196[] = {
    {.name = "T", .tensor = 0x1c0},
    {.name = "T1", .tensor = 0x2},
};

static const struct tn_schema_types types197[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "T1", .tensor = 0x80},
};

static const struct tn_schema_types types198[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "I", .tensor = 0x80},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types199[] = {
    {.name = "T", .tensor = 0x3cfe},
    {.name = "I", .tensor = 0x80},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types200[] = {
    {.name = "T", .tensor = 0x13cfe},
    {.name = "I", .tensor = 0x80},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types201[] = {
    {.name = "T", .tensor = 0xec2},
};

static const struct tn_schema_types types202[] = {
    {.name = "B", .tensor = 0x200},
    {.name = "T", .tensor = 0xfffe},
};

static const struct tn_schema_types types203[] = {
    {.name = "B", .tensor = 0x200},
    {.name = "T", .tensor = 0x1fffe},
};

static const struct tn_schema_types types204[] = {
    {.name = "T", .tensor = 0x9c2},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types205[] = {
    {.name = "T", .tensor = 0x8c2},
};

static const struct tn_schema_types types206[] = {
    {.name = "T1", .maps = 0xc},
    {.name = "T2", .tensor = 0x182},
};

static const struct tn_schema_types types207[] = {
    {.name = "T1", .tensor = 0x180},
    {.name = "T2", .tensor = 0x180},
};

static const struct tn_schema_types types208[] = {
    {.name = "T1", .maps = 0xf},
    {.name = "T2", .tensor = 0x982},
};

static const struct tn_schema_types types209[] = {
    {.name = "T1", .tensor = 0x8c2},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types210[] = {
    {.name = "T1", .tensor = 0x182},
    {.name = "T2", .tensor = 0x182},
};

static const struct tn_schema_types types211[] = {
    {.name = "T1", .tensor = 0x9e2},
    {.name = "T2", .tensor = 0x9e2},
};

static const struct tn_schema_types types212[] = {
    {.name = "T1", .tensor = 0x8c2},
    {.name = "T2", .tensor = 0x180},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types213[] = {
    {.name = "T", .tensor = 0x8c2},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types214[] = {
    {.name = "T", .tensor = 0x9c2},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types215[] = {
    {.name = "T", .maps = 0xa0},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types216[] = {
    {.name = "T1", .tensor = 0x10c02},
};

static const struct tn_schema_types types217[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "M", .tensor = 0x40},
};

static const struct tn_schema_types types218[] = {
    {.name = "T", .tensor = 0x402},
};

static const struct tn_schema_types types219[] = {
    {.name = "T", .tensor = 0x10c02},
    {.name = "T1", .tensor = 0x10c02},
    {.name = "T2", .tensor = 0x200},
};

static const struct tn_schema_types types220[] = {
    {.name = "T", .tensor = 0x80},
};

static const struct tn_schema_types types221[] = {
    {.name = "T", .tensor = 0x802},
};

static const struct tn_schema_types types222[] = {
    {.name = "T", .tensor = 0xc02},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types223[] = {
    {.name = "T1", .tensor = 0xc02},
    {.name = "T2", .tensor = 0x40},
};

static const struct tn_schema_types types224[] = {
    {.name = "T", .tensor = 0x402},
    {.name = "QK", .tensor = 0x402},
    {.name = "M", .tensor = 0x40},
};

static const struct tn_schema_types types225[] = {
    {.name = "T", .tensor = 0x402},
    {.name = "M", .tensor = 0x40},
};

static const struct tn_schema_types types226[] = {
    {.name = "T1", .tensor = 0x60007c},
    {.name = "T2", .tensor = 0x402},
};

static const struct tn_schema_types types227[] = {
    {.name = "T", .tensor = 0x2},
    {.name = "T1", .tensor = 0x40},
    {.name = "T2", .tensor = 0xc},
};

static const struct tn_schema_types types228[] = {
    {.name = "T1", .tensor = 0x2},
    {.name = "T2", .tensor = 0xc},
};

static const struct tn_schema_types types229[] = {
    {.name = "T1", .tensor = 0x40},
    {.name = "T", .tensor = 0x402},
};

static const struct tn_schema_types types230[] = {
    {.name = "T", .tensor = 0xfffe},
    {.name = "tensor(int32)", .tensor = 0x40},
};

static const struct tn_schema_types types231[] = {
    {.name = "T1", .tensor = 0xfe0004},
    {.name = "T2", .tensor = 0x10402},
    {.name = "Tind", .tensor = 0xc0},
};

static const struct tn_schema_types types232[] = {
    {.name = "TA", .tensor = 0xb0402},
    {.name = "TB", .tensor = 0xb0402},
    {.name = "TC", .tensor = 0x10402},
    {.name = "TR", .tensor = 0xb0402},
    {.name = "TS", .tensor = 0x2},
};

static const struct tn_schema_types types233[] = {
    {.name = "T", .tensor = 0x402},
    {.name = "M", .tensor = 0x402},
};

static const struct tn_schema_types types234[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "T_CACHE", .tensor = 0x3040e},
    {.name = "T_KV_SCALE", .tensor = 0x2},
    {.name = "M", .tensor = 0x40},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types235[] = {
    {.name = "T1", .tensor = 0x10402},
    {.name = "T2", .tensor = 0x4},
};

static const struct tn_schema_types types236[] = {
    {.name = "T1", .tensor = 0x30},
    {.name = "T2", .tensor = 0x30},
    {.name = "T3", .tensor = 0x1040},
};

static const struct tn_schema_types types237[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0xc},
    {.name = "T3", .tensor = 0x402},
};

static const struct tn_schema_types types238[] = {
    {.name = "T1", .tensor = 0x10402},
    {.name = "T2", .tensor = 0x4},
    {.name = "T3", .tensor = 0x10406},
    {.name = "T4", .tensor = 0x40},
};

static const struct tn_schema_types types239[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "QK", .tensor = 0x10402},
    {.name = "M", .tensor = 0x40},
};

static const struct tn_schema_types types240[] = {
    {.name = "T1", .tensor = 0x39c2},
    {.name = "T2", .tensor = 0x1040},
};

static const struct tn_schema_types types241[] = {
    {.name = "Tid", .tensor = 0x80},
    {.name = "T", .tensor = 0x2},
};

static const struct tn_schema_types types242[] = {
    {.name = "T", .tensor = 0xc},
};

static const struct tn_schema_types types243[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0xc},
    {.name = "T3", .tensor = 0x402},
    {.name = "T4", .tensor = 0x40},
};

static const struct tn_schema_types types244[] = {
    {.name = "T1", .tensor = 0x40},
    {.name = "T2", .tensor = 0xc},
    {.name = "T", .tensor = 0x2},
};

static const struct tn_schema_types types245[] = {
    {.name = "T", .tensor = 0x2},
    {.name = "TA", .tensor = 0xc},
    {.name = "TB", .tensor = 0xc},
    {.name = "TC", .tensor = 0x40},
    {.name = "TYZ", .tensor = 0xc},
    {.name = "TY", .tensor = 0xe},
};

static const struct tn_schema_types types246[] = {
    {.name = "T", .tensor = 0xc},
    {.name = "tensor(float)", .tensor = 0x2},
};

static const struct tn_schema_types types247[] = {
    {.name = "T8", .tensor = 0xc},
    {.name = "TF", .tensor = 0x2},
    {.name = "TV", .tensor = 0xe},
};

static const struct tn_schema_types types248[] = {
    {.name = "B", .tensor = 0x200},
    {.name = "TF", .tensor = 0x2},
    {.name = "T", .tensor = 0xc},
};

static const struct tn_schema_types types249[] = {
    {.name = "T1", .tensor = 0x402},
    {.name = "T2", .tensor = 0x60003c},
};

static const struct tn_schema_types types250[] = {
    {.name = "T1", .tensor = 0xc},
    {.name = "T2", .tensor = 0x1040},
};

static const struct tn_schema_types types251[] = {
    {.name = "T", .tensor = 0x402},
    {.name = "U", .tensor = 0x80},
};

static const struct tn_schema_types types252[] = {
    {.name = "T", .tensor = 0x10402},
    {.name = "U", .tensor = 0x2},
};

static const struct tn_schema_types types253[] = {
    {.name = "T", .tensor = 0x13efe},
    {.name = "tensor(int64)", .tensor = 0x80},
};

static const struct tn_schema_types types254[] = {
    {.name = "T", .tensor = 0x40},
    {.name = "T1", .tensor = 0x2},
};

static const struct tn_schema_port ports0[] = {
    {"X", 0, 0, true},
};

static const struct tn_schema_port ports1[] = {
    {"Y", 0, 0, true},
};

static const struct tn_schema_port ports2[] = {
    {"input", 0, 0, true},
};

static const struct tn_schema_port ports3[] = {
    {"output", 0, 0, true},
};

static const struct tn_schema_port ports4[] = {
    {"A", 0, 0, true},
    {"B", 0, 0, true},
};

static const struct tn_schema_port ports5[] = {
    {"C", 0, 0, true},
};

static const struct tn_schema_port ports6[] = {
    {"theta", 0, 0, true},
    {"size", 1, 0, true},
};

static const struct tn_schema_port ports7[] = {
    {"grid", 0, 0, true},
};

static const struct tn_schema_port ports8[] = {
    {"C", 1, 0, true},
};

static const struct tn_schema_port ports9[] = {
    {"data", 0, 0, true},
};

static const struct tn_schema_port ports10[] = {
    {"reduced", 1, 0, true},
};

static const struct tn_schema_port ports11[] = {
    {"Q", 0, 0, true},
    {"K", 0, 0, true},
    {"V", 1, 0, true},
    {"attn_mask", 2, 1, true},
    {"past_key", 0, 1, true},
    {"past_value", 1, 1, true},
};

static const struct tn_schema_port ports12[] = {
    {"Y", 0, 0, true},
    {"present_key", 0, 1, true},
    {"present_value", 1, 1, true},
    {"qk_matmul_output", 0, 1, true},
};

static const struct tn_schema_port ports13[] = {
    {"Q", 0, 0, true},
    {"K", 0, 0, true},
    {"V", 1, 0, true},
    {"attn_mask", 2, 1, true},
    {"past_key", 0, 1, true},
    {"past_value", 1, 1, true},
    {"nonpad_kv_seqlen", 3, 1, true},
};

static const struct tn_schema_port ports14[] = {
    {"X", 0, 0, true},
    {"scale", 0, 0, true},
    {"B", 0, 0, true},
    {"mean", 0, 0, true},
    {"var", 0, 0, true},
};

static const struct tn_schema_port ports15[] = {
    {"Y", 0, 0, true},
    {"mean", 0, 1, true},
    {"var", 0, 1, true},
    {"saved_mean", 0, 1, true},
    {"saved_var", 0, 1, true},
};

static const struct tn_schema_port ports16[] = {
    {"X", 0, 0, true},
    {"scale", 0, 0, true},
    {"B", 0, 0, true},
    {"input_mean", 1, 0, true},
    {"input_var", 1, 0, true},
};

static const struct tn_schema_port ports17[] = {
    {"Y", 0, 0, true},
    {"running_mean", 1, 1, true},
    {"running_var", 1, 1, true},
};

static const struct tn_schema_port ports18[] = {
    {"X", 0, 0, true},
    {"scale", 1, 0, true},
    {"B", 1, 0, true},
    {"input_mean", 2, 0, true},
    {"input_var", 2, 0, true},
};

static const struct tn_schema_port ports19[] = {
    {"Y", 0, 0, true},
    {"running_mean", 2, 1, true},
    {"running_var", 2, 1, true},
};

static const struct tn_schema_port ports20[] = {
    {"output", 1, 0, true},
};

static const struct tn_schema_port ports21[] = {
    {"X", 0, 0, true},
    {"Y", 0, 0, true},
};

static const struct tn_schema_port ports22[] = {
    {"Z", 0, 0, true},
};

static const struct tn_schema_port ports23[] = {
    {"size", 0, 0, true},
};

static const struct tn_schema_port ports24[] = {
    {"input", 0, 0, true},
    {"target_type", 1, 0, true},
};

static const struct tn_schema_port ports25[] = {
    {"input", 0, 0, true},
    {"weight", 0, 0, true},
    {"bias", 0, 1, true},
    {"past_state", 0, 1, true},
};

static const struct tn_schema_port ports26[] = {
    {"output", 0, 0, true},
    {"present_state", 0, 0, true},
};

static const struct tn_schema_port ports27[] = {
    {"input_data", 0, 0, true},
    {"shape", 1, 0, true},
};

static const struct tn_schema_port ports28[] = {
    {"output_data", 0, 0, true},
};

static const struct tn_schema_port ports29[] = {
    {"input", 0, 0, true},
    {"min", 0, 1, true},
    {"max", 0, 1, true},
};

static const struct tn_schema_port ports30[] = {
    {"input", 0, 0, true},
    {"image_shape", 1, 0, true},
    {"block_shape", 1, 0, true},
};

static const struct tn_schema_port ports31[] = {
    {"input", 0, 0, true},
    {"condition", 1, 0, true},
};

static const struct tn_schema_port ports32[] = {
    {"inputs", 0, 2, true},
};

static const struct tn_schema_port ports33[] = {
    {"concat_result", 0, 0, true},
};

static const struct tn_schema_port ports34[] = {
    {"input_sequence", 0, 0, true},
};

static const struct tn_schema_port ports35[] = {
    {"concat_result", 1, 0, true},
};

static const struct tn_schema_port ports36[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"B", 0, 1, true},
};

static const struct tn_schema_port ports37[] = {
    {"x", 0, 0, true},
    {"w", 1, 0, true},
    {"x_zero_point", 0, 1, true},
    {"w_zero_point", 1, 1, true},
};

static const struct tn_schema_port ports38[] = {
    {"y", 2, 0, true},
};

static const struct tn_schema_port ports39[] = {
    {"x", 0, 0, true},
    {"axis", 1, 0, true},
};

static const struct tn_schema_port ports40[] = {
    {"y", 0, 0, true},
};

static const struct tn_schema_port ports41[] = {
    {"input", 0, 0, true},
    {"dft_length", 1, 1, true},
};

static const struct tn_schema_port ports42[] = {
    {"input", 0, 0, true},
    {"dft_length", 1, 1, true},
    {"axis", 2, 1, true},
};

static const struct tn_schema_port ports43[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"offset", 0, 0, true},
    {"B", 0, 1, true},
    {"mask", 0, 1, true},
};

static const struct tn_schema_port ports44[] = {
    {"x", 0, 0, true},
    {"x_scale", 1, 0, true},
    {"x_zero_point", 0, 1, true},
};

static const struct tn_schema_port ports45[] = {
    {"y", 1, 0, true},
};

static const struct tn_schema_port ports46[] = {
    {"output", 0, 0, true},
    {"mask", 0, 1, true},
};

static const struct tn_schema_port ports47[] = {
    {"output", 0, 0, true},
    {"mask", 1, 1, true},
};

static const struct tn_schema_port ports48[] = {
    {"data", 0, 0, true},
    {"ratio", 1, 1, true},
    {"training_mode", 2, 1, true},
};

static const struct tn_schema_port ports49[] = {
    {"output", 0, 0, true},
    {"mask", 2, 1, true},
};

static const struct tn_schema_port ports50[] = {
    {"x", 0, 0, true},
};

static const struct tn_schema_port ports51[] = {
    {"y", 1, 0, true},
    {"y_scale", 2, 0, true},
    {"y_zero_point", 1, 0, true},
};

static const struct tn_schema_port ports52[] = {
    {"Inputs", 0, 2, true},
};

static const struct tn_schema_port ports53[] = {
    {"Output", 0, 0, true},
};

static const struct tn_schema_port ports54[] = {
    {"input", 0, 0, true},
    {"shape", 1, 0, true},
};

static const struct tn_schema_port ports55[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"R", 0, 0, true},
    {"B", 0, 1, true},
    {"sequence_lens", 1, 1, true},
    {"initial_h", 0, 1, true},
};

static const struct tn_schema_port ports56[] = {
    {"Y", 0, 1, true},
    {"Y_h", 0, 0, true},
};

static const struct tn_schema_port ports57[] = {
    {"Y", 0, 1, true},
    {"Y_h", 0, 1, true},
};

static const struct tn_schema_port ports58[] = {
    {"data", 0, 0, true},
    {"indices", 1, 0, true},
};

static const struct tn_schema_port ports59[] = {
    {"A", 0, 0, true},
    {"B", 0, 0, true},
    {"C", 0, 0, true},
};

static const struct tn_schema_port ports60[] = {
    {"A", 0, 0, true},
    {"B", 0, 0, true},
    {"C", 0, 1, true},
};

static const struct tn_schema_port ports61[] = {
    {"X", 0, 0, true},
    {"grid", 1, 0, true},
};

static const struct tn_schema_port ports62[] = {
    {"X", 0, 0, true},
    {"scale", 0, 0, true},
    {"bias", 0, 0, true},
};

static const struct tn_schema_port ports63[] = {
    {"cond", 1, 0, true},
};

static const struct tn_schema_port ports64[] = {
    {"outputs", 0, 2, false},
};

static const struct tn_schema_port ports65[] = {
    {"encoded_stream", 0, 0, true},
};

static const struct tn_schema_port ports66[] = {
    {"image", 1, 0, true},
};

static const struct tn_schema_port ports67[] = {
    {"input", 0, 0, true},
    {"scale", 0, 0, true},
    {"B", 0, 0, true},
};

static const struct tn_schema_port ports68[] = {
    {"Y", 1, 0, true},
};

static const struct tn_schema_port ports69[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"R", 0, 0, true},
    {"B", 0, 1, true},
    {"sequence_lens", 1, 1, true},
    {"initial_h", 0, 1, true},
    {"initial_c", 0, 1, true},
    {"P", 0, 1, true},
};

static const struct tn_schema_port ports70[] = {
    {"Y", 0, 1, true},
    {"Y_h", 0, 1, true},
    {"Y_c", 0, 1, true},
};

static const struct tn_schema_port ports71[] = {
    {"X", 0, 0, true},
    {"Scale", 0, 0, true},
    {"B", 0, 1, true},
};

static const struct tn_schema_port ports72[] = {
    {"Y", 0, 0, true},
    {"Mean", 1, 1, true},
    {"InvStdDev", 1, 1, true},
};

static const struct tn_schema_port ports73[] = {
    {"query", 0, 0, true},
    {"key", 0, 0, true},
    {"value", 0, 0, true},
    {"past_state", 1, 1, true},
    {"decay", 0, 1, true},
    {"beta", 0, 1, true},
};

static const struct tn_schema_port ports74[] = {
    {"output", 0, 0, true},
    {"present_state", 1, 0, true},
};

static const struct tn_schema_port ports75[] = {
    {"M", 1, 1, true},
    {"cond", 2, 1, true},
    {"v_initial", 0, 2, false},
};

static const struct tn_schema_port ports76[] = {
    {"v_final_and_scan_outputs", 0, 2, false},
};

static const struct tn_schema_port ports77[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"a_zero_point", 0, 1, true},
    {"b_zero_point", 1, 1, true},
};

static const struct tn_schema_port ports78[] = {
    {"Y", 2, 0, true},
};

static const struct tn_schema_port ports79[] = {
    {"data_0", 0, 2, true},
};

static const struct tn_schema_port ports80[] = {
    {"max", 0, 0, true},
};

static const struct tn_schema_port ports81[] = {
    {"Y", 0, 0, true},
    {"Indices", 1, 1, true},
};

static const struct tn_schema_port ports82[] = {
    {"X", 0, 0, true},
    {"rois", 0, 0, true},
};

static const struct tn_schema_port ports83[] = {
    {"X", 0, 0, true},
    {"I", 1, 0, true},
    {"output_shape", 1, 1, true},
};

static const struct tn_schema_port ports84[] = {
    {"mean", 0, 0, true},
};

static const struct tn_schema_port ports85[] = {
    {"num_mel_bins", 0, 0, true},
    {"dft_length", 0, 0, true},
    {"sample_rate", 0, 0, true},
    {"lower_edge_hertz", 1, 0, true},
    {"upper_edge_hertz", 1, 0, true},
};

static const struct tn_schema_port ports86[] = {
    {"output", 2, 0, true},
};

static const struct tn_schema_port ports87[] = {
    {"min", 0, 0, true},
};

static const struct tn_schema_port ports88[] = {
    {"input", 0, 0, true},
    {"target", 1, 0, true},
    {"weight", 0, 1, true},
};

static const struct tn_schema_port ports89[] = {
    {"loss", 0, 0, true},
};

static const struct tn_schema_port ports90[] = {
    {"boxes", 0, 0, true},
    {"scores", 0, 0, true},
    {"max_output_boxes_per_class", 1, 1, true},
    {"iou_threshold", 0, 1, true},
    {"score_threshold", 0, 1, true},
};

static const struct tn_schema_port ports91[] = {
    {"selected_indices", 1, 0, true},
};

static const struct tn_schema_port ports92[] = {
    {"indices", 0, 0, true},
    {"depth", 1, 0, true},
    {"values", 2, 0, true},
};

static const struct tn_schema_port ports93[] = {
    {"input", 0, 1, true},
};

static const struct tn_schema_port ports94[] = {
    {"X", 0, 0, true},
    {"slope", 0, 0, true},
};

static const struct tn_schema_port ports95[] = {
    {"data", 0, 0, true},
    {"pads", 1, 0, true},
    {"constant_value", 0, 1, true},
};

static const struct tn_schema_port ports96[] = {
    {"data", 0, 0, true},
    {"pads", 2, 0, true},
    {"constant_value", 0, 1, true},
    {"axes", 1, 1, true},
};

static const struct tn_schema_port ports97[] = {
    {"X", 0, 0, true},
    {"Y", 1, 0, true},
};

static const struct tn_schema_port ports98[] = {
    {"x", 0, 0, true},
    {"x_scale", 4, 0, true},
    {"x_zero_point", 0, 0, true},
    {"w", 1, 0, true},
    {"w_scale", 4, 0, true},
    {"w_zero_point", 1, 0, true},
    {"y_scale", 4, 0, true},
    {"y_zero_point", 2, 0, true},
    {"B", 3, 1, true},
};

static const struct tn_schema_port ports99[] = {
    {"a", 0, 0, true},
    {"a_scale", 3, 0, true},
    {"a_zero_point", 0, 0, true},
    {"b", 1, 0, true},
    {"b_scale", 3, 0, true},
    {"b_zero_point", 1, 0, true},
    {"y_scale", 3, 0, true},
    {"y_zero_point", 2, 0, true},
};

static const struct tn_schema_port ports100[] = {
    {"a", 1, 0, true},
    {"a_scale", 0, 0, true},
    {"a_zero_point", 1, 0, true},
    {"b", 2, 0, true},
    {"b_scale", 0, 0, true},
    {"b_zero_point", 2, 0, true},
    {"y_scale", 0, 0, true},
    {"y_zero_point", 3, 0, true},
};

static const struct tn_schema_port ports101[] = {
    {"y", 3, 0, true},
};

static const struct tn_schema_port ports102[] = {
    {"x", 0, 0, true},
    {"y_scale", 2, 0, true},
    {"y_zero_point", 1, 1, true},
};

static const struct tn_schema_port ports103[] = {
    {"x", 0, 0, true},
    {"y_scale", 0, 0, true},
    {"y_zero_point", 1, 1, true},
};

static const struct tn_schema_port ports104[] = {
    {"x", 0, 0, true},
    {"y_scale", 1, 0, true},
    {"y_zero_point", 2, 1, true},
};

static const struct tn_schema_port ports105[] = {
    {"X", 0, 0, true},
    {"scale", 1, 0, true},
};

static const struct tn_schema_port ports106[] = {
    {"start", 0, 0, true},
    {"limit", 0, 0, true},
    {"delta", 0, 0, true},
};

static const struct tn_schema_port ports107[] = {
    {"reduced", 0, 0, true},
};

static const struct tn_schema_port ports108[] = {
    {"data", 0, 0, true},
    {"axes", 1, 1, true},
};

static const struct tn_schema_port ports109[] = {
    {"reshaped", 0, 0, true},
};

static const struct tn_schema_port ports110[] = {
    {"data", 0, 0, true},
    {"shape", 1, 0, true},
};

static const struct tn_schema_port ports111[] = {
    {"X", 0, 0, true},
    {"scales", 1, 0, true},
};

static const struct tn_schema_port ports112[] = {
    {"X", 0, 0, true},
    {"roi", 1, 0, true},
    {"scales", 2, 0, true},
    {"sizes", 3, 1, true},
};

static const struct tn_schema_port ports113[] = {
    {"X", 0, 0, true},
    {"roi", 1, 1, true},
    {"scales", 2, 1, true},
    {"sizes", 3, 1, true},
};

static const struct tn_schema_port ports114[] = {
    {"input", 0, 0, true},
    {"sequence_lens", 1, 0, true},
};

static const struct tn_schema_port ports115[] = {
    {"X", 0, 0, true},
    {"rois", 0, 0, true},
    {"batch_indices", 1, 0, true},
};

static const struct tn_schema_port ports116[] = {
    {"X", 0, 0, true},
    {"cos_cache", 0, 0, true},
    {"sin_cache", 0, 0, true},
    {"position_ids", 1, 1, true},
};

static const struct tn_schema_port ports117[] = {
    {"signal", 0, 0, true},
    {"frame_step", 1, 0, true},
    {"window", 0, 1, true},
    {"frame_length", 1, 1, true},
};

static const struct tn_schema_port ports118[] = {
    {"sequence_lens", 0, 1, true},
    {"initial_state_and_scan_inputs", 1, 2, false},
};

static const struct tn_schema_port ports119[] = {
    {"final_state_and_scan_outputs", 1, 2, false},
};

static const struct tn_schema_port ports120[] = {
    {"initial_state_and_scan_inputs", 0, 2, false},
};

static const struct tn_schema_port ports121[] = {
    {"final_state_and_scan_outputs", 0, 2, false},
};

static const struct tn_schema_port ports122[] = {
    {"data", 0, 0, true},
    {"indices", 1, 0, true},
    {"updates", 0, 0, true},
};

static const struct tn_schema_port ports123[] = {
    {"input_sequence", 0, 0, true},
    {"position", 2, 0, true},
};

static const struct tn_schema_port ports124[] = {
    {"tensor", 1, 0, true},
};

static const struct tn_schema_port ports125[] = {
    {"output_sequence", 1, 0, true},
};

static const struct tn_schema_port ports126[] = {
    {"input_sequence", 0, 0, true},
    {"position", 1, 1, true},
};

static const struct tn_schema_port ports127[] = {
    {"output_sequence", 0, 0, true},
};

static const struct tn_schema_port ports128[] = {
    {"input_sequence", 1, 0, true},
    {"tensor", 0, 0, true},
    {"position", 2, 1, true},
};

static const struct tn_schema_port ports129[] = {
    {"length", 1, 0, true},
};

static const struct tn_schema_port ports130[] = {
    {"input_sequence", 0, 0, true},
    {"additional_inputs", 1, 2, false},
};

static const struct tn_schema_port ports131[] = {
    {"out_sequence", 0, 2, false},
};

static const struct tn_schema_port ports132[] = {
    {"shape", 1, 0, true},
};

static const struct tn_schema_port ports133[] = {
    {"X", 0, 0, true},
    {"scale", 2, 0, true},
};

static const struct tn_schema_port ports134[] = {
    {"Y", 2, 0, true},
    {"inv_std_var", 1, 1, true},
};

static const struct tn_schema_port ports135[] = {
    {"size", 1, 0, true},
};

static const struct tn_schema_port ports136[] = {
    {"data", 0, 0, true},
    {"starts", 1, 0, true},
    {"ends", 1, 0, true},
    {"axes", 1, 1, true},
    {"steps", 1, 1, true},
};

static const struct tn_schema_port ports137[] = {
    {"scores", 0, 0, true},
    {"labels", 1, 0, true},
    {"weights", 0, 1, true},
};

static const struct tn_schema_port ports138[] = {
    {"output", 0, 0, true},
    {"log_prob", 0, 1, true},
};

static const struct tn_schema_port ports139[] = {
    {"input", 0, 0, true},
    {"split", 0, 1, true},
};

static const struct tn_schema_port ports140[] = {
    {"outputs...", 0, 2, true},
};

static const struct tn_schema_port ports141[] = {
    {"outputs", 0, 2, true},
};

static const struct tn_schema_port ports142[] = {
    {"input", 0, 0, true},
    {"split", 1, 1, true},
};

static const struct tn_schema_port ports143[] = {
    {"output_sequence", 2, 0, true},
};

static const struct tn_schema_port ports144[] = {
    {"squeezed", 0, 0, true},
};

static const struct tn_schema_port ports145[] = {
    {"Y", 1, 0, true},
    {"Z", 2, 0, true},
};

static const struct tn_schema_port ports146[] = {
    {"sum", 0, 0, true},
};

static const struct tn_schema_port ports147[] = {
    {"past_cache", 0, 0, true},
    {"update", 0, 0, true},
    {"write_indices", 1, 1, true},
};

static const struct tn_schema_port ports148[] = {
    {"present_cache", 0, 0, true},
};

static const struct tn_schema_port ports149[] = {
    {"input", 0, 0, true},
    {"tiles", 0, 0, true},
    {"axis", 0, 0, true},
};

static const struct tn_schema_port ports150[] = {
    {"input", 0, 0, true},
    {"repeats", 1, 0, true},
};

static const struct tn_schema_port ports151[] = {
    {"Values", 0, 0, true},
    {"Indices", 1, 0, true},
};

static const struct tn_schema_port ports152[] = {
    {"X", 0, 0, true},
    {"K", 2, 0, true},
};

static const struct tn_schema_port ports153[] = {
    {"transposed", 0, 0, true},
};

static const struct tn_schema_port ports154[] = {
    {"input", 0, 0, true},
    {"k", 1, 1, true},
};

static const struct tn_schema_port ports155[] = {
    {"Y", 0, 0, true},
    {"indices", 1, 1, true},
    {"inverse_indices", 1, 1, true},
    {"counts", 1, 1, true},
};

static const struct tn_schema_port ports156[] = {
    {"expanded", 0, 0, true},
};

static const struct tn_schema_port ports157[] = {
    {"data", 0, 0, true},
    {"axes", 1, 0, true},
};

static const struct tn_schema_port ports158[] = {
    {"condition", 0, 0, true},
    {"X", 1, 0, true},
    {"Y", 1, 0, true},
};

static const struct tn_schema_port ports159[] = {
    {"X", 0, 2, true},
};

static const struct tn_schema_port ports160[] = {
    {"X", 1, 0, true},
};

static const struct tn_schema_port ports161[] = {
    {"Q", 0, 0, true},
    {"K", 0, 0, true},
    {"V", 0, 0, true},
};

static const struct tn_schema_port ports162[] = {
    {"input", 0, 0, true},
    {"weights", 0, 0, true},
    {"bias", 0, 1, true},
    {"mask_index", 1, 1, true},
    {"past", 0, 1, true},
    {"attention_bias", 0, 1, true},
    {"past_sequence_length", 1, 1, true},
};

static const struct tn_schema_port ports163[] = {
    {"output", 0, 0, true},
    {"present", 0, 1, true},
};

static const struct tn_schema_port ports164[] = {
    {"X", 0, 0, true},
    {"bias", 0, 0, true},
    {"skip", 0, 0, true},
};

static const struct tn_schema_port ports165[] = {
    {"data", 0, 0, true},
    {"bias", 0, 0, true},
    {"residual", 0, 1, true},
    {"ratio", 1, 1, true},
    {"training_mode", 2, 1, true},
};

static const struct tn_schema_port ports166[] = {
    {"X", 0, 0, true},
    {"bias", 0, 0, true},
};

static const struct tn_schema_port ports167[] = {
    {"src_tokens", 0, 0, true},
    {"cur_tokens", 0, 0, true},
    {"prev_suffix_match_idx", 0, 0, true},
    {"pred_tokens", 0, 1, true},
};

static const struct tn_schema_port ports168[] = {
    {"tokens", 0, 0, true},
    {"suffix_match_idx", 0, 0, true},
};

static const struct tn_schema_port ports169[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"Pads", 1, 1, true},
    {"B", 0, 1, true},
};

static const struct tn_schema_port ports170[] = {
    {"X", 0, 0, true},
    {"rois", 0, 0, true},
    {"batch_indices", 1, 0, true},
    {"crop_size", 1, 0, true},
};

static const struct tn_schema_port ports171[] = {
    {"query", 0, 0, true},
    {"key", 0, 1, true},
    {"value", 0, 1, true},
    {"mask_index", 2, 1, true},
    {"attention_bias", 0, 1, true},
    {"past_key", 0, 1, true},
    {"past_value", 0, 1, true},
    {"past_sequence_length", 2, 1, true},
    {"beam_width", 2, 1, true},
    {"cache_indirection", 2, 1, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports172[] = {
    {"output", 0, 0, true},
    {"present_key", 0, 1, true},
    {"present_value", 0, 1, true},
    {"qk", 1, 1, true},
};

static const struct tn_schema_port ports173[] = {
    {"input", 0, 0, true},
    {"weights", 0, 0, true},
    {"bias", 0, 0, true},
    {"mask_index", 1, 1, true},
    {"past", 0, 0, true},
    {"attention_bias", 0, 1, true},
    {"past_sequence_length", 1, 0, true},
    {"beam_width", 1, 1, true},
    {"cache_indirection", 1, 1, true},
};

static const struct tn_schema_port ports174[] = {
    {"output", 0, 0, true},
    {"present", 0, 0, true},
};

static const struct tn_schema_port ports175[] = {
    {"X", 0, 0, true},
    {"W", 2, 0, true},
    {"R", 2, 0, true},
    {"B", 0, 1, true},
    {"sequence_lens", 1, 1, true},
    {"initial_h", 0, 1, true},
    {"initial_c", 0, 1, true},
    {"P", 0, 1, true},
    {"W_scale", 0, 0, true},
    {"W_zero_point", 2, 0, true},
    {"R_scale", 0, 0, true},
    {"R_zero_point", 2, 0, true},
};

static const struct tn_schema_port ports176[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"b_scale", 0, 0, true},
    {"b_zero_point", 1, 1, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports177[] = {
    {"input_ids", 0, 0, true},
    {"segment_ids", 0, 1, true},
    {"word_embedding", 1, 0, true},
    {"position_embedding", 1, 0, true},
    {"segment_embedding", 1, 1, true},
    {"gamma", 1, 0, true},
    {"beta", 1, 0, true},
    {"mask", 0, 1, true},
    {"position_ids", 0, 1, true},
};

static const struct tn_schema_port ports178[] = {
    {"output", 1, 0, true},
    {"mask_index", 0, 1, true},
    {"embedding_sum", 1, 1, true},
};

static const struct tn_schema_port ports179[] = {
    {"X", 0, 0, true},
    {"axis", 1, 0, true},
};

static const struct tn_schema_port ports180[] = {
    {"X", 0, 0, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports181[] = {
    {"X", 0, 0, true},
    {"W", 0, 0, true},
    {"B", 0, 1, true},
    {"Z", 0, 1, true},
};

static const struct tn_schema_port ports182[] = {
    {"data", 0, 0, true},
    {"indices", 2, 0, true},
    {"scales", 1, 0, true},
    {"zero_points", 0, 1, true},
};

static const struct tn_schema_port ports183[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"C", 2, 1, true},
    {"scaleA", 4, 1, true},
    {"scaleB", 4, 1, true},
    {"scaleY", 4, 1, true},
};

static const struct tn_schema_port ports184[] = {
    {"Y", 3, 0, true},
};

static const struct tn_schema_port ports185[] = {
    {"X", 0, 0, true},
    {"Grid", 0, 0, true},
};

static const struct tn_schema_port ports186[] = {
    {"X", 0, 0, true},
    {"gamma", 1, 0, true},
    {"beta", 1, 0, true},
};

static const struct tn_schema_port ports187[] = {
    {"query", 0, 0, true},
    {"key", 0, 1, true},
    {"value", 0, 1, true},
    {"past_key", 1, 1, true},
    {"past_value", 1, 1, true},
    {"seqlens_k", 3, 0, true},
    {"total_sequence_length", 3, 0, true},
    {"cos_cache", 0, 1, true},
    {"sin_cache", 0, 1, true},
    {"position_ids", 4, 1, true},
    {"attention_bias", 0, 1, true},
    {"head_sink", 0, 1, true},
    {"k_scale", 2, 1, true},
    {"v_scale", 2, 1, true},
    {"q_norm_weight", 0, 1, true},
    {"k_norm_weight", 0, 1, true},
    {"query_seqlens", 3, 1, true},
};

static const struct tn_schema_port ports188[] = {
    {"output", 0, 0, true},
    {"present_key", 1, 1, true},
    {"present_value", 1, 1, true},
    {"output_qk", 0, 1, true},
};

static const struct tn_schema_port ports189[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"absmax", 0, 0, true},
};

static const struct tn_schema_port ports190[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
};

static const struct tn_schema_port ports191[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"a_scale", 2, 0, true},
    {"b_scale", 2, 0, true},
    {"a_zero_point", 0, 1, true},
    {"b_zero_point", 1, 1, true},
    {"bias", 2, 1, true},
};

static const struct tn_schema_port ports192[] = {
    {"A", 0, 0, true},
    {"B", 1, 0, true},
    {"scales", 0, 0, true},
    {"zero_points", 2, 1, true},
    {"g_idx", 3, 1, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports193[] = {
    {"input", 0, 0, true},
    {"router_probs", 0, 0, true},
    {"fc1_experts_weights", 0, 0, true},
    {"fc1_experts_bias", 0, 1, true},
    {"fc2_experts_weights", 0, 0, true},
    {"fc2_experts_bias", 0, 1, true},
    {"fc3_experts_weights", 0, 1, true},
    {"fc3_experts_bias", 0, 1, true},
};

static const struct tn_schema_port ports194[] = {
    {"query", 0, 0, true},
    {"key", 0, 1, true},
    {"value", 0, 1, true},
    {"bias", 0, 1, true},
    {"key_padding_mask", 2, 1, true},
    {"attention_bias", 0, 1, true},
    {"past_key", 0, 1, true},
    {"past_value", 0, 1, true},
    {"past_sequence_length", 2, 1, true},
    {"cache_indirection", 2, 1, true},
};

static const struct tn_schema_port ports195[] = {
    {"input_ids", 0, 0, true},
    {"scores", 1, 0, true},
};

static const struct tn_schema_port ports196[] = {
    {"scores_out", 1, 0, true},
};

static const struct tn_schema_port ports197[] = {
    {"input", 0, 0, true},
    {"weights", 0, 0, true},
    {"bias", 0, 0, true},
    {"token_offset", 1, 0, true},
    {"cumulative_sequence_length", 1, 0, true},
    {"attention_bias", 0, 1, true},
};

static const struct tn_schema_port ports198[] = {
    {"query", 0, 0, true},
    {"key", 0, 1, true},
    {"value", 0, 1, true},
    {"bias", 0, 1, true},
    {"token_offset", 1, 0, true},
    {"cumulative_sequence_length", 1, 0, true},
    {"attention_bias", 0, 1, true},
};

static const struct tn_schema_port ports199[] = {
    {"data", 0, 0, true},
    {"pads", 1, 0, true},
    {"value", 0, 1, true},
};

static const struct tn_schema_port ports200[] = {
    {"input", 0, 0, true},
    {"weight", 1, 0, true},
    {"bias", 2, 0, true},
    {"input_scale", 2, 0, true},
    {"weight_scale", 2, 0, true},
    {"mask_index", 3, 1, true},
    {"input_zero_point", 0, 1, true},
    {"weight_zero_point", 1, 1, true},
    {"past", 2, 1, true},
};

static const struct tn_schema_port ports201[] = {
    {"output", 2, 0, true},
    {"present", 2, 1, true},
};

static const struct tn_schema_port ports202[] = {
    {"input_ids", 0, 0, true},
    {"segment_ids", 0, 1, true},
    {"word_embedding_quant", 1, 0, true},
    {"position_embedding_quant", 1, 0, true},
    {"segment_embedding", 1, 1, true},
    {"gamma_quant", 1, 0, true},
    {"beta_quant", 1, 0, true},
    {"mask", 0, 1, true},
    {"word_embedding_scale", 2, 0, true},
    {"position_embedding_scale", 2, 0, true},
    {"segment_embedding_scale", 2, 1, true},
    {"gamma_scale", 2, 0, true},
    {"beta_scale", 2, 0, true},
    {"word_embedding_zero_point", 1, 0, true},
    {"position_embedding_zero_point", 1, 0, true},
    {"segment_embedding_zero_point", 1, 1, true},
    {"gamma_zero_point", 1, 0, true},
    {"beta_zero_point", 1, 0, true},
};

static const struct tn_schema_port ports203[] = {
    {"layernorm_out", 2, 0, true},
    {"mask_index_out", 0, 0, true},
};

static const struct tn_schema_port ports204[] = {
    {"A", 1, 0, true},
    {"a_scale", 0, 0, true},
    {"a_zero_point", 1, 0, true},
    {"B", 2, 0, true},
    {"b_scale", 0, 0, true},
    {"b_zero_point", 2, 0, true},
    {"C", 3, 1, true},
    {"y_scale", 0, 1, true},
    {"y_zero_point", 4, 1, true},
};

static const struct tn_schema_port ports205[] = {
    {"Y", 5, 0, true},
};

static const struct tn_schema_port ports206[] = {
    {"A", 0, 0, true},
    {"A_scale", 1, 0, true},
    {"A_zero_point", 0, 1, true},
    {"B", 0, 0, true},
    {"B_scale", 1, 0, true},
    {"B_zero_point", 0, 1, true},
    {"C_scale", 1, 0, true},
    {"C_zero_point", 0, 1, true},
};

static const struct tn_schema_port ports207[] = {
    {"X", 0, 0, true},
    {"x_scale", 1, 0, true},
    {"x_zero_point", 0, 1, true},
    {"y_scale", 1, 0, true},
    {"y_zero_point", 0, 1, true},
};

static const struct tn_schema_port ports208[] = {
    {"Y_scale", 1, 0, true},
    {"Y_zero_point", 0, 0, true},
    {"inputs", 2, 2, false},
};

static const struct tn_schema_port ports209[] = {
    {"X", 0, 0, true},
    {"x_scale", 1, 0, true},
    {"x_zero_point", 0, 0, true},
    {"y_scale", 1, 0, true},
    {"y_zero_point", 0, 0, true},
};

static const struct tn_schema_port ports210[] = {
    {"X", 0, 0, true},
    {"X_scale", 1, 0, true},
    {"X_zero_point", 0, 1, true},
    {"Y_scale", 1, 0, true},
    {"Y_zero_point", 0, 1, true},
};

static const struct tn_schema_port ports211[] = {
    {"data", 0, 0, true},
    {"data_scale", 1, 0, true},
    {"data_zero_point", 0, 1, true},
    {"reduced_scale", 1, 0, true},
    {"reduced_zero_point", 0, 1, true},
};

static const struct tn_schema_port ports212[] = {
    {"X", 0, 0, true},
    {"X_scale", 1, 0, true},
    {"x_zero_point", 0, 1, true},
    {"y_scale", 1, 0, true},
    {"y_zero_point", 0, 0, true},
};

static const struct tn_schema_port ports213[] = {
    {"condition", 0, 0, true},
    {"X", 2, 0, true},
    {"x_scale", 1, 0, true},
    {"x_zero_point", 2, 0, true},
    {"Y", 2, 0, true},
    {"y_scale", 1, 0, true},
    {"y_zero_point", 2, 0, true},
    {"z_scale", 1, 0, true},
    {"z_zero_point", 2, 0, true},
};

static const struct tn_schema_port ports214[] = {
    {"Z", 2, 0, true},
};

static const struct tn_schema_port ports215[] = {
    {"start", 0, 0, true},
    {"limit", 0, 0, true},
    {"delta", 0, 1, true},
};

static const struct tn_schema_port ports216[] = {
    {"bias_table", 0, 0, true},
    {"query_length", 1, 0, true},
    {"key_length", 1, 0, true},
};

static const struct tn_schema_port ports217[] = {
    {"input", 0, 0, true},
    {"position_ids", 1, 0, true},
    {"cos_cache", 0, 0, true},
    {"sin_cache", 0, 0, true},
};

static const struct tn_schema_port ports218[] = {
    {"X", 0, 0, true},
    {"gamma", 1, 0, true},
    {"beta", 1, 0, true},
    {"skip", 0, 0, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports219[] = {
    {"Y", 0, 0, true},
    {"S", 0, 1, true},
};

static const struct tn_schema_port ports220[] = {
    {"input", 0, 0, true},
    {"skip", 0, 0, true},
    {"gamma", 0, 0, true},
    {"beta", 0, 1, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports221[] = {
    {"output", 0, 0, true},
    {"mean", 1, 1, true},
    {"inv_std_var", 1, 1, true},
    {"input_skip_bias_sum", 0, 1, true},
};

static const struct tn_schema_port ports222[] = {
    {"input", 0, 0, true},
    {"skip", 0, 0, true},
    {"gamma", 0, 0, true},
    {"bias", 0, 1, true},
};

static const struct tn_schema_port ports223[] = {
    {"query", 0, 0, true},
    {"key", 0, 1, true},
    {"value", 0, 1, true},
    {"past_key", 0, 0, true},
    {"past_value", 0, 0, true},
    {"block_row_indices", 1, 0, true},
    {"block_col_indices", 1, 0, true},
    {"total_sequence_length", 1, 0, true},
    {"key_total_sequence_lengths", 1, 0, true},
    {"cos_cache", 0, 1, true},
    {"sin_cache", 0, 1, true},
};

static const struct tn_schema_port ports224[] = {
    {"output", 0, 0, true},
    {"present_key", 0, 0, true},
    {"present_value", 0, 0, true},
};

static const struct tn_schema_port ports225[] = {
    {"X", 0, 0, true},
    {"k", 1, 1, true},
};

static const struct tn_schema_port ports226[] = {
    {"y", 0, 0, true},
    {"idx", 1, 0, true},
    {"counts", 1, 0, true},
};

static const struct tn_schema_port ports227[] = {
    {"Sequence", 0, 0, true},
    {"W", 1, 0, true},
    {"B", 1, 0, true},
    {"C", 1, 0, true},
};

static const struct tn_schema_attr attrs0[] = {
    {.name = "consumed_inputs", .type = 7},
};

static const struct tn_schema_attr attrs1[] = {
    {.name = "axis", .type = 2},
    {.name = "broadcast", .type = 2, .has_default = true, .number = 0},
    {.name = "consumed_inputs", .type = 7},
};

static const struct tn_schema_attr attrs2[] = {
    {.name = "axis", .type = 2},
    {.name = "broadcast", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs3[] = {
    {.name = "align_corners", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs4[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
    {.name = "keepdims", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs5[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
    {.name = "keepdims", .type = 2, .has_default = true, .number = 1},
    {.name = "select_last_index", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs6[] = {
    {.name = "is_causal", .type = 2, .has_default = true, .number = 0},
    {.name = "kv_num_heads", .type = 2},
    {.name = "q_num_heads", .type = 2},
    {.name = "qk_matmul_output_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "scale", .type = 1},
    {.name = "softcap", .type = 1, .has_default = true, .number = 0},
    {.name = "softmax_precision", .type = 2},
};

static const struct tn_schema_attr attrs7[] = {
    {.name = "is_causal", .type = 2, .has_default = true, .number = 0},
    {.name = "kv_num_heads", .type = 2},
    {.name = "left_window_size", .type = 2, .has_default = true, .number = -1},
    {.name = "q_num_heads", .type = 2},
    {.name = "qk_matmul_output_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "right_window_size", .type = 2, .has_default = true, .number = -1},
    {.name = "scale", .type = 1},
    {.name = "softcap", .type = 1, .has_default = true, .number = 0},
    {.name = "softmax_precision", .type = 2},
};

static const struct tn_schema_attr attrs8[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs9[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "count_include_pad", .type = 2, .has_default = true, .number = 0},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs10[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "count_include_pad", .type = 2, .has_default = true, .number = 0},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs11[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "count_include_pad", .type = 2, .has_default = true, .number = 0},
    {.name = "dilations", .type = 7},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs12[] = {
    {.name = "consumed_inputs", .type = 7, .required = true},
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "is_test", .type = 2, .has_default = true, .number = 0},
    {.name = "momentum", .type = 1, .has_default = true, .number = 0x1.cccccc0000000p-1},
    {.name = "spatial", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs13[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "is_test", .type = 2, .has_default = true, .number = 0},
    {.name = "momentum", .type = 1, .has_default = true, .number = 0x1.cccccc0000000p-1},
    {.name = "spatial", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs14[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "momentum", .type = 1, .has_default = true, .number = 0x1.cccccc0000000p-1},
    {.name = "spatial", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs15[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "momentum", .type = 1, .has_default = true, .number = 0x1.cccccc0000000p-1},
};

static const struct tn_schema_attr attrs16[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "momentum", .type = 1, .has_default = true, .number = 0x1.cccccc0000000p-1},
    {.name = "training_mode", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs17[] = {
    {.name = "dtype", .type = 2},
    {.name = "seed", .type = 1},
};

static const struct tn_schema_attr attrs18[] = {
    {.name = "to", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs19[] = {
    {.name = "direction", .type = 3, .required = true},
};

static const struct tn_schema_attr attrs20[] = {
    {.name = "output_datatype", .type = 2, .has_default = true, .number = 1},
    {.name = "periodic", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs21[] = {
    {.name = "to", .type = 3, .required = true},
};

static const struct tn_schema_attr attrs22[] = {
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
    {.name = "to", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs23[] = {
    {.name = "round_mode", .type = 3, .has_default = true, .text = "up"},
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
    {.name = "to", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs24[] = {
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs25[] = {
    {.name = "round_mode", .type = 3, .has_default = true, .text = "up"},
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs26[] = {
    {.name = "activation", .type = 3, .has_default = true, .text = "none"},
};

static const struct tn_schema_attr attrs27[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs28[] = {
    {.name = "axes", .type = 7},
};

static const struct tn_schema_attr attrs29[] = {
    {.name = "consumed_inputs", .type = 7},
    {.name = "max", .type = 1},
    {.name = "min", .type = 1},
};

static const struct tn_schema_attr attrs30[] = {
    {.name = "max", .type = 1, .has_default = true, .number = 340282346638528859811704183484516925440.0},
    {.name = "min", .type = 1, .has_default = true, .number = -340282346638528859811704183484516925440.0},
};

static const struct tn_schema_attr attrs31[] = {
    {.name = "dilations", .type = 7},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs32[] = {
    {.name = "axis", .type = 2},
};

static const struct tn_schema_attr attrs33[] = {
    {.name = "axis", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs34[] = {
    {.name = "axis", .type = 2, .required = true},
    {.name = "new_axis", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs35[] = {
    {.name = "value", .type = 4, .required = true},
};

static const struct tn_schema_attr attrs36[] = {
    {.name = "sparse_value", .type = 11},
    {.name = "value", .type = 4},
};

static const struct tn_schema_attr attrs37[] = {
    {.name = "sparse_value", .type = 11},
    {.name = "value", .type = 4},
    {.name = "value_float", .type = 1},
    {.name = "value_floats", .type = 6},
    {.name = "value_int", .type = 2},
    {.name = "value_ints", .type = 7},
    {.name = "value_string", .type = 3},
    {.name = "value_strings", .type = 8},
};

static const struct tn_schema_attr attrs38[] = {
    {.name = "value", .type = 4},
};

static const struct tn_schema_attr attrs39[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs40[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "output_padding", .type = 7},
    {.name = "output_shape", .type = 7},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs41[] = {
    {.name = "exclusive", .type = 2, .has_default = true, .number = 0},
    {.name = "reverse", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs42[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "inverse", .type = 2, .has_default = true, .number = 0},
    {.name = "onesided", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs43[] = {
    {.name = "inverse", .type = 2, .has_default = true, .number = 0},
    {.name = "onesided", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs44[] = {
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "offset_group", .type = 2, .has_default = true, .number = 1},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs45[] = {
    {.name = "blocksize", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs46[] = {
    {.name = "blocksize", .type = 2, .required = true},
    {.name = "mode", .type = 3, .has_default = true, .text = "DCR"},
};

static const struct tn_schema_attr attrs47[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs48[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "block_size", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs49[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "block_size", .type = 2, .has_default = true, .number = 0},
    {.name = "output_dtype", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs50[] = {
    {.name = "consumed_inputs", .type = 7},
    {.name = "is_test", .type = 2, .has_default = true, .number = 0},
    {.name = "ratio", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
};

static const struct tn_schema_attr attrs51[] = {
    {.name = "is_test", .type = 2, .has_default = true, .number = 0},
    {.name = "ratio", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
};

static const struct tn_schema_attr attrs52[] = {
    {.name = "ratio", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
};

static const struct tn_schema_attr attrs53[] = {
    {.name = "seed", .type = 2},
};

static const struct tn_schema_attr attrs54[] = {
    {.name = "equation", .type = 3, .required = true},
};

static const struct tn_schema_attr attrs55[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "consumed_inputs", .type = 7},
};

static const struct tn_schema_attr attrs56[] = {
    {.name = "dtype", .type = 2},
    {.name = "k", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs57[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "foward"},
    {.name = "hidden_size", .type = 2},
    {.name = "output_sequence", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs58[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "linear_before_reset", .type = 2, .has_default = true, .number = 0},
    {.name = "output_sequence", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs59[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "linear_before_reset", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs60[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "layout", .type = 2, .has_default = true, .number = 0},
    {.name = "linear_before_reset", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs61[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs62[] = {
    {.name = "batch_dims", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs63[] = {
    {.name = "approximate", .type = 3, .has_default = true, .text = "none"},
};

static const struct tn_schema_attr attrs64[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "beta", .type = 1, .has_default = true, .number = 1},
    {.name = "broadcast", .type = 2, .has_default = true, .number = 0},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs65[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "beta", .type = 1, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs66[] = {
    {.name = "p", .type = 1, .has_default = true, .number = 2},
};

static const struct tn_schema_attr attrs67[] = {
    {.name = "p", .type = 2, .has_default = true, .number = 2},
};

static const struct tn_schema_attr attrs68[] = {
    {.name = "align_corners", .type = 2, .has_default = true, .number = 0},
    {.name = "mode", .type = 3, .has_default = true, .text = "bilinear"},
    {.name = "padding_mode", .type = 3, .has_default = true, .text = "zeros"},
};

static const struct tn_schema_attr attrs69[] = {
    {.name = "align_corners", .type = 2, .has_default = true, .number = 0},
    {.name = "mode", .type = 3, .has_default = true, .text = "linear"},
    {.name = "padding_mode", .type = 3, .has_default = true, .text = "zeros"},
};

static const struct tn_schema_attr attrs70[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "num_groups", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs71[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "num_groups", .type = 2, .required = true},
    {.name = "stash_type", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs72[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.99999a0000000p-3},
    {.name = "beta", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
    {.name = "consumed_inputs", .type = 7},
};

static const struct tn_schema_attr attrs73[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.99999a0000000p-3},
    {.name = "beta", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
};

static const struct tn_schema_attr attrs74[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
};

static const struct tn_schema_attr attrs75[] = {
    {.name = "else_branch", .type = 5, .required = true},
    {.name = "then_branch", .type = 5, .required = true},
};

static const struct tn_schema_attr attrs76[] = {
    {.name = "pixel_format", .type = 3, .has_default = true, .text = "RGB"},
};

static const struct tn_schema_attr attrs77[] = {
    {.name = "consumed_inputs", .type = 7},
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
};

static const struct tn_schema_attr attrs78[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
};

static const struct tn_schema_attr attrs79[] = {
    {.name = "detect_negative", .type = 2, .has_default = true, .number = 1},
    {.name = "detect_positive", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs80[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.a36e2e0000000p-14},
    {.name = "beta", .type = 1, .has_default = true, .number = 0x1.8000000000000p-1},
    {.name = "bias", .type = 1, .has_default = true, .number = 1},
    {.name = "size", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs81[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "input_forget", .type = 2, .has_default = true, .number = 0},
    {.name = "output_sequence", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs82[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "input_forget", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs83[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "input_forget", .type = 2, .has_default = true, .number = 0},
    {.name = "layout", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs84[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "stash_type", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs85[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.47ae140000000p-7},
    {.name = "consumed_inputs", .type = 7},
};

static const struct tn_schema_attr attrs86[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.47ae140000000p-7},
};

static const struct tn_schema_attr attrs87[] = {
    {.name = "chunk_size", .type = 2, .has_default = true, .number = 64},
    {.name = "kv_num_heads", .type = 2, .required = true},
    {.name = "q_num_heads", .type = 2, .required = true},
    {.name = "scale", .type = 1, .has_default = true, .number = 0},
    {.name = "update_rule", .type = 3, .has_default = true, .text = "gated_delta"},
};

static const struct tn_schema_attr attrs88[] = {
    {.name = "body", .type = 5, .required = true},
};

static const struct tn_schema_attr attrs89[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
    {.name = "p", .type = 2, .has_default = true, .number = 2},
};

static const struct tn_schema_attr attrs90[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "kernel_shape", .type = 7},
    {.name = "p", .type = 1, .has_default = true, .number = 2},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs91[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "p", .type = 2, .has_default = true, .number = 2},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs92[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "dilations", .type = 7},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "p", .type = 2, .has_default = true, .number = 2},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs93[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "storage_order", .type = 2, .has_default = true, .number = 0},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs94[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "dilations", .type = 7},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "storage_order", .type = 2, .has_default = true, .number = 0},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs95[] = {
    {.name = "pooled_shape", .type = 7, .required = true},
    {.name = "spatial_scale", .type = 1, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs96[] = {
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs97[] = {
    {.name = "axes", .type = 7, .has_default = true, .ints = ints0, .int_count = 3},
};

static const struct tn_schema_attr attrs98[] = {
    {.name = "output_datatype", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs99[] = {
    {.name = "fmod", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs100[] = {
    {.name = "dtype", .type = 2, .has_default = true, .number = 6},
    {.name = "sample_size", .type = 2, .has_default = true, .number = 1},
    {.name = "seed", .type = 1},
};

static const struct tn_schema_attr attrs101[] = {
    {.name = "ignore_index", .type = 2},
    {.name = "reduction", .type = 3, .has_default = true, .text = "mean"},
};

static const struct tn_schema_attr attrs102[] = {
    {.name = "center_point_box", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs103[] = {
    {.name = "type", .type = 13},
};

static const struct tn_schema_attr attrs104[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "constant"},
    {.name = "paddings", .type = 7, .required = true},
    {.name = "value", .type = 1, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs105[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "constant"},
    {.name = "pads", .type = 7, .required = true},
    {.name = "value", .type = 1, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs106[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "constant"},
};

static const struct tn_schema_attr attrs107[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs108[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "block_size", .type = 2, .has_default = true, .number = 0},
    {.name = "output_dtype", .type = 2, .has_default = true, .number = 0},
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs109[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 1},
    {.name = "block_size", .type = 2, .has_default = true, .number = 0},
    {.name = "output_dtype", .type = 2, .has_default = true, .number = 0},
    {.name = "precision", .type = 2, .has_default = true, .number = 0},
    {.name = "saturate", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs110[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8, .has_default = true, .text = "Tanh,Tanh"},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "output_sequence", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs111[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8, .has_default = true, .text = "Tanh,Tanh"},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
};

static const struct tn_schema_attr attrs112[] = {
    {.name = "activation_alpha", .type = 6},
    {.name = "activation_beta", .type = 6},
    {.name = "activations", .type = 8, .has_default = true, .text = "Tanh,Tanh"},
    {.name = "clip", .type = 1},
    {.name = "direction", .type = 3, .has_default = true, .text = "forward"},
    {.name = "hidden_size", .type = 2},
    {.name = "layout", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs113[] = {
    {.name = "dtype", .type = 2, .has_default = true, .number = 1},
    {.name = "mean", .type = 1, .has_default = true, .number = 0},
    {.name = "scale", .type = 1, .has_default = true, .number = 1},
    {.name = "seed", .type = 1},
    {.name = "shape", .type = 7, .required = true},
};

static const struct tn_schema_attr attrs114[] = {
    {.name = "dtype", .type = 2},
    {.name = "mean", .type = 1, .has_default = true, .number = 0},
    {.name = "scale", .type = 1, .has_default = true, .number = 1},
    {.name = "seed", .type = 1},
};

static const struct tn_schema_attr attrs115[] = {
    {.name = "dtype", .type = 2, .has_default = true, .number = 1},
    {.name = "high", .type = 1, .has_default = true, .number = 1},
    {.name = "low", .type = 1, .has_default = true, .number = 0},
    {.name = "seed", .type = 1},
    {.name = "shape", .type = 7, .required = true},
};

static const struct tn_schema_attr attrs116[] = {
    {.name = "dtype", .type = 2},
    {.name = "high", .type = 1, .has_default = true, .number = 1},
    {.name = "low", .type = 1, .has_default = true, .number = 0},
    {.name = "seed", .type = 1},
};

static const struct tn_schema_attr attrs117[] = {
    {.name = "stash_type", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs118[] = {
    {.name = "axes", .type = 7},
    {.name = "keepdims", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs119[] = {
    {.name = "keepdims", .type = 2, .has_default = true, .number = 1},
    {.name = "noop_with_empty_axes", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs120[] = {
    {.name = "pattern", .type = 3},
};

static const struct tn_schema_attr attrs121[] = {
    {.name = "consumed_inputs", .type = 7},
    {.name = "shape", .type = 7},
};

static const struct tn_schema_attr attrs122[] = {
    {.name = "allowzero", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs123[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "nearest"},
};

static const struct tn_schema_attr attrs124[] = {
    {.name = "coordinate_transformation_mode", .type = 3, .has_default = true, .text = "half_pixel"},
    {.name = "cubic_coeff_a", .type = 1, .has_default = true, .number = -0x1.8000000000000p-1},
    {.name = "exclude_outside", .type = 2, .has_default = true, .number = 0},
    {.name = "extrapolation_value", .type = 1, .has_default = true, .number = 0},
    {.name = "mode", .type = 3, .has_default = true, .text = "nearest"},
    {.name = "nearest_mode", .type = 3, .has_default = true, .text = "round_prefer_floor"},
};

static const struct tn_schema_attr attrs125[] = {
    {.name = "antialias", .type = 2, .has_default = true, .number = 0},
    {.name = "axes", .type = 7},
    {.name = "coordinate_transformation_mode", .type = 3, .has_default = true, .text = "half_pixel"},
    {.name = "cubic_coeff_a", .type = 1, .has_default = true, .number = -0x1.8000000000000p-1},
    {.name = "exclude_outside", .type = 2, .has_default = true, .number = 0},
    {.name = "extrapolation_value", .type = 1, .has_default = true, .number = 0},
    {.name = "keep_aspect_ratio_policy", .type = 3, .has_default = true, .text = "stretch"},
    {.name = "mode", .type = 3, .has_default = true, .text = "nearest"},
    {.name = "nearest_mode", .type = 3, .has_default = true, .text = "round_prefer_floor"},
};

static const struct tn_schema_attr attrs126[] = {
    {.name = "batch_axis", .type = 2, .has_default = true, .number = 1},
    {.name = "time_axis", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs127[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "avg"},
    {.name = "output_height", .type = 2, .has_default = true, .number = 1},
    {.name = "output_width", .type = 2, .has_default = true, .number = 1},
    {.name = "sampling_ratio", .type = 2, .has_default = true, .number = 0},
    {.name = "spatial_scale", .type = 1, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs128[] = {
    {.name = "coordinate_transformation_mode", .type = 3, .has_default = true, .text = "half_pixel"},
    {.name = "mode", .type = 3, .has_default = true, .text = "avg"},
    {.name = "output_height", .type = 2, .has_default = true, .number = 1},
    {.name = "output_width", .type = 2, .has_default = true, .number = 1},
    {.name = "sampling_ratio", .type = 2, .has_default = true, .number = 0},
    {.name = "spatial_scale", .type = 1, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs129[] = {
    {.name = "interleaved", .type = 2, .has_default = true, .number = 0},
    {.name = "num_heads", .type = 2},
    {.name = "rotary_embedding_dim", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs130[] = {
    {.name = "onesided", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs131[] = {
    {.name = "body", .type = 5, .required = true},
    {.name = "directions", .type = 7},
    {.name = "num_scan_inputs", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs132[] = {
    {.name = "body", .type = 5, .required = true},
    {.name = "num_scan_inputs", .type = 2, .required = true},
    {.name = "scan_input_axes", .type = 7},
    {.name = "scan_input_directions", .type = 7},
    {.name = "scan_output_axes", .type = 7},
    {.name = "scan_output_directions", .type = 7},
};

static const struct tn_schema_attr attrs133[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
    {.name = "reduction", .type = 3, .has_default = true, .text = "none"},
};

static const struct tn_schema_attr attrs134[] = {
    {.name = "reduction", .type = 3, .has_default = true, .text = "none"},
};

static const struct tn_schema_attr attrs135[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.ac56d60000000p+0},
    {.name = "consumed_inputs", .type = 7},
    {.name = "gamma", .type = 1, .has_default = true, .number = 0x1.0cfaac0000000p+0},
};

static const struct tn_schema_attr attrs136[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.ac5afa0000000p+0},
    {.name = "gamma", .type = 1, .has_default = true, .number = 0x1.0cfabe0000000p+0},
};

static const struct tn_schema_attr attrs137[] = {
    {.name = "dtype", .type = 2},
};

static const struct tn_schema_attr attrs138[] = {
    {.name = "end", .type = 2},
    {.name = "start", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs139[] = {
    {.name = "bias", .type = 1, .has_default = true, .number = 0},
    {.name = "lambd", .type = 1, .has_default = true, .number = 0x1.0000000000000p-1},
};

static const struct tn_schema_attr attrs140[] = {
    {.name = "axes", .type = 7},
    {.name = "ends", .type = 7, .required = true},
    {.name = "starts", .type = 7, .required = true},
};

static const struct tn_schema_attr attrs141[] = {
    {.name = "axis", .type = 2},
    {.name = "split", .type = 7},
};

static const struct tn_schema_attr attrs142[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
    {.name = "split", .type = 7},
};

static const struct tn_schema_attr attrs143[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = 0},
    {.name = "num_outputs", .type = 2},
};

static const struct tn_schema_attr attrs144[] = {
    {.name = "case_change_action", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "is_case_sensitive", .type = 2, .has_default = true, .number = 0},
    {.name = "locale", .type = 3},
    {.name = "stopwords", .type = 8},
};

static const struct tn_schema_attr attrs145[] = {
    {.name = "delimiter", .type = 3},
    {.name = "maxsplit", .type = 2},
};

static const struct tn_schema_attr attrs146[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -2},
    {.name = "mode", .type = 3, .has_default = true, .text = "linear"},
};

static const struct tn_schema_attr attrs147[] = {
    {.name = "max_gram_length", .type = 2, .required = true},
    {.name = "max_skip_count", .type = 2, .required = true},
    {.name = "min_gram_length", .type = 2, .required = true},
    {.name = "mode", .type = 3, .required = true},
    {.name = "ngram_counts", .type = 7, .required = true},
    {.name = "ngram_indexes", .type = 7, .required = true},
    {.name = "pool_int64s", .type = 7},
    {.name = "pool_strings", .type = 8},
    {.name = "weights", .type = 6},
};

static const struct tn_schema_attr attrs148[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
    {.name = "k", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs149[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
    {.name = "largest", .type = 2, .has_default = true, .number = 1},
    {.name = "sorted", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs150[] = {
    {.name = "perm", .type = 7},
};

static const struct tn_schema_attr attrs151[] = {
    {.name = "upper", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs152[] = {
    {.name = "axis", .type = 2},
    {.name = "sorted", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs153[] = {
    {.name = "axes", .type = 7, .required = true},
};

static const struct tn_schema_attr attrs154[] = {
    {.name = "height_scale", .type = 1, .required = true},
    {.name = "mode", .type = 3, .has_default = true, .text = "nearest"},
    {.name = "width_scale", .type = 1, .required = true},
};

static const struct tn_schema_attr attrs155[] = {
    {.name = "mode", .type = 3, .has_default = true, .text = "nearest"},
    {.name = "scales", .type = 6, .required = true},
};

static const struct tn_schema_attr attrs156[] = {
    {.name = "threshold", .type = 1, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs157[] = {
    {.name = "cast_to", .type = 3, .has_default = true, .text = "TO_FLOAT"},
    {.name = "map_form", .type = 3, .has_default = true, .text = "DENSE"},
    {.name = "max_map", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs158[] = {
    {.name = "cats_int64s", .type = 7},
    {.name = "cats_strings", .type = 8},
    {.name = "default_int64", .type = 2, .has_default = true, .number = -1},
    {.name = "default_string", .type = 3, .has_default = true, .text = "_Unused"},
};

static const struct tn_schema_attr attrs159[] = {
    {.name = "int64_vocabulary", .type = 7},
    {.name = "string_vocabulary", .type = 8},
};

static const struct tn_schema_attr attrs160[] = {
    {.name = "inputdimensions", .type = 7},
};

static const struct tn_schema_attr attrs161[] = {
    {.name = "imputed_value_floats", .type = 6},
    {.name = "imputed_value_int64s", .type = 7},
    {.name = "replaced_value_float", .type = 1, .has_default = true, .number = 0},
    {.name = "replaced_value_int64", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs162[] = {
    {.name = "classes_strings", .type = 8},
    {.name = "default_int64", .type = 2, .has_default = true, .number = -1},
    {.name = "default_string", .type = 3, .has_default = true, .text = "_Unused"},
};

static const struct tn_schema_attr attrs163[] = {
    {.name = "default_float", .type = 1, .has_default = true, .number = 0},
    {.name = "default_int64", .type = 2, .has_default = true, .number = -1},
    {.name = "default_string", .type = 3, .has_default = true, .text = "_Unused"},
    {.name = "keys_floats", .type = 6},
    {.name = "keys_int64s", .type = 7},
    {.name = "keys_strings", .type = 8},
    {.name = "values_floats", .type = 6},
    {.name = "values_int64s", .type = 7},
    {.name = "values_strings", .type = 8},
};

static const struct tn_schema_attr attrs164[] = {
    {.name = "default_float", .type = 1, .has_default = true, .number = 0},
    {.name = "default_int64", .type = 2, .has_default = true, .number = -1},
    {.name = "default_string", .type = 3, .has_default = true, .text = "_Unused"},
    {.name = "default_tensor", .type = 4},
    {.name = "keys_floats", .type = 6},
    {.name = "keys_int64s", .type = 7},
    {.name = "keys_strings", .type = 8},
    {.name = "keys_tensor", .type = 4},
    {.name = "values_floats", .type = 6},
    {.name = "values_int64s", .type = 7},
    {.name = "values_strings", .type = 8},
    {.name = "values_tensor", .type = 4},
};

static const struct tn_schema_attr attrs165[] = {
    {.name = "classlabels_ints", .type = 7},
    {.name = "classlabels_strings", .type = 8},
    {.name = "coefficients", .type = 6, .required = true},
    {.name = "intercepts", .type = 6},
    {.name = "multi_class", .type = 2, .has_default = true, .number = 0},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
};

static const struct tn_schema_attr attrs166[] = {
    {.name = "coefficients", .type = 6},
    {.name = "intercepts", .type = 6},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "targets", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs167[] = {
    {.name = "norm", .type = 3, .has_default = true, .text = "MAX"},
};

static const struct tn_schema_attr attrs168[] = {
    {.name = "cats_int64s", .type = 7},
    {.name = "cats_strings", .type = 8},
    {.name = "zeros", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs169[] = {
    {.name = "classlabels_ints", .type = 7},
    {.name = "classlabels_strings", .type = 8},
    {.name = "coefficients", .type = 6},
    {.name = "kernel_params", .type = 6},
    {.name = "kernel_type", .type = 3, .has_default = true, .text = "LINEAR"},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "prob_a", .type = 6},
    {.name = "prob_b", .type = 6},
    {.name = "rho", .type = 6},
    {.name = "support_vectors", .type = 6},
    {.name = "vectors_per_class", .type = 7},
};

static const struct tn_schema_attr attrs170[] = {
    {.name = "coefficients", .type = 6},
    {.name = "kernel_params", .type = 6},
    {.name = "kernel_type", .type = 3, .has_default = true, .text = "LINEAR"},
    {.name = "n_supports", .type = 2, .has_default = true, .number = 0},
    {.name = "one_class", .type = 2, .has_default = true, .number = 0},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "rho", .type = 6},
    {.name = "support_vectors", .type = 6},
};

static const struct tn_schema_attr attrs171[] = {
    {.name = "offset", .type = 6},
    {.name = "scale", .type = 6},
};

static const struct tn_schema_attr attrs172[] = {
    {.name = "aggregate_function", .type = 2, .has_default = true, .number = 1},
    {.name = "leaf_targetids", .type = 7, .required = true},
    {.name = "leaf_weights", .type = 4, .required = true},
    {.name = "membership_values", .type = 4},
    {.name = "n_targets", .type = 2},
    {.name = "nodes_falseleafs", .type = 7, .required = true},
    {.name = "nodes_falsenodeids", .type = 7, .required = true},
    {.name = "nodes_featureids", .type = 7, .required = true},
    {.name = "nodes_hitrates", .type = 4},
    {.name = "nodes_missing_value_tracks_true", .type = 7},
    {.name = "nodes_modes", .type = 4, .required = true},
    {.name = "nodes_splits", .type = 4, .required = true},
    {.name = "nodes_trueleafs", .type = 7, .required = true},
    {.name = "nodes_truenodeids", .type = 7, .required = true},
    {.name = "post_transform", .type = 2, .has_default = true, .number = 0},
    {.name = "tree_roots", .type = 7, .required = true},
};

static const struct tn_schema_attr attrs173[] = {
    {.name = "base_values", .type = 6},
    {.name = "class_ids", .type = 7},
    {.name = "class_nodeids", .type = 7},
    {.name = "class_treeids", .type = 7},
    {.name = "class_weights", .type = 6},
    {.name = "classlabels_int64s", .type = 7},
    {.name = "classlabels_strings", .type = 8},
    {.name = "nodes_falsenodeids", .type = 7},
    {.name = "nodes_featureids", .type = 7},
    {.name = "nodes_hitrates", .type = 6},
    {.name = "nodes_missing_value_tracks_true", .type = 7},
    {.name = "nodes_modes", .type = 8},
    {.name = "nodes_nodeids", .type = 7},
    {.name = "nodes_treeids", .type = 7},
    {.name = "nodes_truenodeids", .type = 7},
    {.name = "nodes_values", .type = 6},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
};

static const struct tn_schema_attr attrs174[] = {
    {.name = "base_values", .type = 6},
    {.name = "base_values_as_tensor", .type = 4},
    {.name = "class_ids", .type = 7},
    {.name = "class_nodeids", .type = 7},
    {.name = "class_treeids", .type = 7},
    {.name = "class_weights", .type = 6},
    {.name = "class_weights_as_tensor", .type = 4},
    {.name = "classlabels_int64s", .type = 7},
    {.name = "classlabels_strings", .type = 8},
    {.name = "nodes_falsenodeids", .type = 7},
    {.name = "nodes_featureids", .type = 7},
    {.name = "nodes_hitrates", .type = 6},
    {.name = "nodes_hitrates_as_tensor", .type = 4},
    {.name = "nodes_missing_value_tracks_true", .type = 7},
    {.name = "nodes_modes", .type = 8},
    {.name = "nodes_nodeids", .type = 7},
    {.name = "nodes_treeids", .type = 7},
    {.name = "nodes_truenodeids", .type = 7},
    {.name = "nodes_values", .type = 6},
    {.name = "nodes_values_as_tensor", .type = 4},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
};

static const struct tn_schema_attr attrs175[] = {
    {.name = "aggregate_function", .type = 3, .has_default = true, .text = "SUM"},
    {.name = "base_values", .type = 6},
    {.name = "n_targets", .type = 2},
    {.name = "nodes_falsenodeids", .type = 7},
    {.name = "nodes_featureids", .type = 7},
    {.name = "nodes_hitrates", .type = 6},
    {.name = "nodes_missing_value_tracks_true", .type = 7},
    {.name = "nodes_modes", .type = 8},
    {.name = "nodes_nodeids", .type = 7},
    {.name = "nodes_treeids", .type = 7},
    {.name = "nodes_truenodeids", .type = 7},
    {.name = "nodes_values", .type = 6},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "target_ids", .type = 7},
    {.name = "target_nodeids", .type = 7},
    {.name = "target_treeids", .type = 7},
    {.name = "target_weights", .type = 6},
};

static const struct tn_schema_attr attrs176[] = {
    {.name = "aggregate_function", .type = 3, .has_default = true, .text = "SUM"},
    {.name = "base_values", .type = 6},
    {.name = "base_values_as_tensor", .type = 4},
    {.name = "n_targets", .type = 2},
    {.name = "nodes_falsenodeids", .type = 7},
    {.name = "nodes_featureids", .type = 7},
    {.name = "nodes_hitrates", .type = 6},
    {.name = "nodes_hitrates_as_tensor", .type = 4},
    {.name = "nodes_missing_value_tracks_true", .type = 7},
    {.name = "nodes_modes", .type = 8},
    {.name = "nodes_nodeids", .type = 7},
    {.name = "nodes_treeids", .type = 7},
    {.name = "nodes_truenodeids", .type = 7},
    {.name = "nodes_values", .type = 6},
    {.name = "nodes_values_as_tensor", .type = 4},
    {.name = "post_transform", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "target_ids", .type = 7},
    {.name = "target_nodeids", .type = 7},
    {.name = "target_treeids", .type = 7},
    {.name = "target_weights", .type = 6},
    {.name = "target_weights_as_tensor", .type = 4},
};

static const struct tn_schema_attr attrs177[] = {
    {.name = "classlabels_int64s", .type = 7},
    {.name = "classlabels_strings", .type = 8},
};

static const struct tn_schema_attr attrs178[] = {
    {.name = "prob_mod", .type = 5},
    {.name = "scale", .type = 1},
    {.name = "score_mod", .type = 5},
    {.name = "softmax_precision", .type = 2},
};

static const struct tn_schema_attr attrs179[] = {
    {.name = "do_rotary", .type = 2},
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "past_present_share_buffer", .type = 2},
    {.name = "qkv_hidden_sizes", .type = 7},
    {.name = "rotary_embedding_dim", .type = 2},
    {.name = "scale", .type = 1},
    {.name = "unidirectional", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs180[] = {
    {.name = "max_ngram_size", .type = 2, .has_default = true, .number = 3},
    {.name = "min_ngram_size", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs181[] = {
    {.name = "metric", .type = 3, .has_default = true, .text = "sqeuclidean"},
};

static const struct tn_schema_attr attrs182[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "output_padding", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs183[] = {
    {.name = "extrapolation_value", .type = 1, .has_default = true, .number = 0},
    {.name = "mode", .type = 3, .has_default = true, .text = "bilinear"},
};

static const struct tn_schema_attr attrs184[] = {
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "output_qk", .type = 2},
    {.name = "past_present_share_buffer", .type = 2},
    {.name = "scale", .type = 1},
};

static const struct tn_schema_attr attrs185[] = {
    {.name = "do_rotary", .type = 2},
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "past_present_share_buffer", .type = 2},
    {.name = "scale", .type = 1},
};

static const struct tn_schema_attr attrs186[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.1979980000000p-40},
    {.name = "mask_index_type", .type = 2},
};

static const struct tn_schema_attr attrs187[] = {
    {.name = "activation", .type = 3},
    {.name = "activation_params", .type = 6},
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs188[] = {
    {.name = "activation", .type = 3},
    {.name = "activation_alpha", .type = 1},
    {.name = "activation_beta", .type = 1},
    {.name = "activation_gamma", .type = 1},
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "beta", .type = 1, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs189[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
    {.name = "transBatchA", .type = 2, .has_default = true, .number = 0},
    {.name = "transBatchB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs190[] = {
    {.name = "activation", .type = 3, .required = true},
    {.name = "activation_alpha", .type = 1},
    {.name = "activation_axis", .type = 2},
    {.name = "activation_beta", .type = 1},
    {.name = "activation_gamma", .type = 1},
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
    {.name = "transBatchA", .type = 2, .has_default = true, .number = 0},
    {.name = "transBatchB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs191[] = {
    {.name = "bits", .type = 2, .has_default = true, .number = 4},
    {.name = "block_size", .type = 2, .has_default = true, .number = 128},
    {.name = "gather_axis", .type = 2, .has_default = true, .number = 0},
    {.name = "quantize_axis", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs192[] = {
    {.name = "activation", .type = 3},
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "beta", .type = 1, .has_default = true, .number = 0},
    {.name = "dtype", .type = 2, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs193[] = {
    {.name = "activation", .type = 2, .required = true},
    {.name = "channels_last", .type = 2, .has_default = true, .number = 1},
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.4f8b580000000p-17},
    {.name = "groups", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs194[] = {
    {.name = "causal", .type = 2, .has_default = true, .number = 1},
    {.name = "do_rotary", .type = 2},
    {.name = "k_norm_epsilon", .type = 1},
    {.name = "k_quant_type", .type = 3, .has_default = true, .text = "NONE"},
    {.name = "kv_cache_bit_width", .type = 2},
    {.name = "kv_num_heads", .type = 2, .required = true},
    {.name = "local_window_size", .type = 2, .has_default = true, .number = -1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "q_norm_epsilon", .type = 1},
    {.name = "qk_norm_epsilon", .type = 1, .has_default = true, .number = 0x1.0c6f7a0000000p-20},
    {.name = "qk_output", .type = 2, .has_default = true, .number = 0},
    {.name = "rotary_interleaved", .type = 2},
    {.name = "scale", .type = 1},
    {.name = "sliding_window_cache", .type = 2, .has_default = true, .number = 0},
    {.name = "smooth_softmax", .type = 2, .has_default = true, .number = -1},
    {.name = "softcap", .type = 1},
    {.name = "v_quant_type", .type = 3, .has_default = true, .text = "NONE"},
};

static const struct tn_schema_attr attrs195[] = {
    {.name = "K", .type = 2, .required = true},
    {.name = "N", .type = 2, .required = true},
    {.name = "block_size", .type = 2, .required = true},
    {.name = "quant_type", .type = 2, .required = true},
    {.name = "training_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs196[] = {
    {.name = "K", .type = 2, .required = true},
    {.name = "N", .type = 2, .required = true},
    {.name = "accuracy_level", .type = 2, .has_default = true, .number = 0},
    {.name = "bits", .type = 2, .has_default = true, .number = 4},
    {.name = "block_size", .type = 2, .required = true},
    {.name = "weight_prepacked", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs197[] = {
    {.name = "activation_alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "activation_beta", .type = 1, .has_default = true, .number = 0},
    {.name = "activation_type", .type = 3, .has_default = true, .text = "relu"},
    {.name = "k", .type = 2, .has_default = true, .number = 1},
    {.name = "normalize_routing_weights", .type = 2, .has_default = true, .number = 0},
    {.name = "swiglu_fusion", .type = 2, .has_default = true, .number = 0},
    {.name = "swiglu_limit", .type = 1},
    {.name = "swiglu_limit_after_activation", .type = 2, .has_default = true, .number = 0},
    {.name = "use_sparse_mixer", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs198[] = {
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "scale", .type = 1},
    {.name = "unidirectional", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs199[] = {
    {.name = "positive", .type = 2, .has_default = true, .number = 1},
    {.name = "seed", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs200[] = {
    {.name = "ngram_size", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs201[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "dilations", .type = 7},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs202[] = {
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "qkv_hidden_sizes", .type = 7},
    {.name = "scale", .type = 1},
};

static const struct tn_schema_attr attrs203[] = {
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "scale", .type = 1},
};

static const struct tn_schema_attr attrs204[] = {
    {.name = "do_rotary", .type = 2},
    {.name = "mask_filter_value", .type = 1},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "past_present_share_buffer", .type = 2},
    {.name = "scale", .type = 1},
    {.name = "unidirectional", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs205[] = {
    {.name = "epsilon", .type = 1, .has_default = true, .number = 0x1.1979980000000p-40},
};

static const struct tn_schema_attr attrs206[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 1},
    {.name = "transA", .type = 2, .has_default = true, .number = 0},
    {.name = "transB", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs207[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "ceil_mode", .type = 2, .has_default = true, .number = 0},
    {.name = "channels_last", .type = 2, .has_default = true, .number = 0},
    {.name = "count_include_pad", .type = 2, .has_default = true, .number = 0},
    {.name = "kernel_shape", .type = 7, .required = true},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs208[] = {
    {.name = "auto_pad", .type = 3, .has_default = true, .text = "NOTSET"},
    {.name = "channels_last", .type = 2, .has_default = true, .number = 0},
    {.name = "dilations", .type = 7},
    {.name = "group", .type = 2, .has_default = true, .number = 1},
    {.name = "kernel_shape", .type = 7},
    {.name = "pads", .type = 7},
    {.name = "strides", .type = 7},
};

static const struct tn_schema_attr attrs209[] = {
    {.name = "channels_last", .type = 2, .has_default = true, .number = 0},
};

static const struct tn_schema_attr attrs210[] = {
    {.name = "axes", .type = 7, .required = true},
    {.name = "keepdims", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs211[] = {
    {.name = "axis", .type = 2, .has_default = true, .number = -1},
    {.name = "opset", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs212[] = {
    {.name = "alpha", .type = 1, .has_default = true, .number = 0x1.b3b6460000000p+0},
};

static const struct tn_schema_attr attrs213[] = {
    {.name = "is_bidirectional", .type = 2, .has_default = true, .number = 0},
    {.name = "max_distance", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs214[] = {
    {.name = "interleaved", .type = 2},
    {.name = "is_packed_batching", .type = 2},
    {.name = "num_heads", .type = 2},
    {.name = "rotary_embedding_dim", .type = 2},
    {.name = "scale", .type = 1},
};

static const struct tn_schema_attr attrs215[] = {
    {.name = "do_rotary", .type = 2},
    {.name = "kv_num_heads", .type = 2, .required = true},
    {.name = "num_heads", .type = 2, .required = true},
    {.name = "rotary_interleaved", .type = 2},
    {.name = "scale", .type = 1},
    {.name = "sparse_block_size", .type = 2, .required = true},
};

static const struct tn_schema_attr attrs216[] = {
    {.name = "mark", .type = 2, .required = true},
    {.name = "mincharnum", .type = 2, .required = true},
    {.name = "pad_value", .type = 3, .required = true},
    {.name = "separators", .type = 8},
    {.name = "tokenexp", .type = 3},
};

static const struct tn_schema_attr attrs217[] = {
    {.name = "dim", .type = 2, .has_default = true, .number = -1},
    {.name = "size", .type = 2, .required = true},
    {.name = "step", .type = 2, .has_default = true, .number = 1},
};

static const struct tn_schema_attr attrs218[] = {
    {.name = "char_embedding_size", .type = 2},
    {.name = "conv_window_size", .type = 2},
    {.name = "embedding_size", .type = 2},
};

const struct tn_op_schema tn_op_schemas[] = {
    {"ai.onnx", "Abs", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Abs", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types1},
    {"ai.onnx", "Abs", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types2},
    {"ai.onnx", "Acos", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Acos", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Acosh", 9, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Acosh", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Add", 1, 5, false, 2, 2, 1, 1, 2, 1, 3, 1, ports4, ports5, attrs1, types0},
    {"ai.onnx", "Add", 6, 6, false, 2, 2, 1, 1, 2, 1, 2, 1, ports4, ports5, attrs2, types4},
    {"ai.onnx", "Add", 7, 12, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types4},
    {"ai.onnx", "Add", 13, 13, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types5},
    {"ai.onnx", "Add", 14, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types2},
    {"ai.onnx", "AffineGrid", 20, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports6, ports7, attrs3, types6},
    {"ai.onnx", "And", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types7},
    {"ai.onnx", "And", 7, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types7},
    {"ai.onnx", "ArgMax", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports10, attrs4, types8},
    {"ai.onnx", "ArgMax", 11, 11, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports10, attrs4, types8},
    {"ai.onnx", "ArgMax", 12, 12, false, 1, 1, 1, 1, 1, 1, 3, 2, ports9, ports10, attrs5, types8},
    {"ai.onnx", "ArgMax", 13, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports9, ports10, attrs5, types9},
    {"ai.onnx", "ArgMin", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports10, attrs4, types8},
    {"ai.onnx", "ArgMin", 11, 11, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports10, attrs4, types8},
    {"ai.onnx", "ArgMin", 12, 12, false, 1, 1, 1, 1, 1, 1, 3, 2, ports9, ports10, attrs5, types8},
    {"ai.onnx", "ArgMin", 13, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports9, ports10, attrs5, types9},
    {"ai.onnx", "Asin", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Asin", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Asinh", 9, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Asinh", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Atan", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Atan", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Atanh", 9, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Atanh", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Attention", 23, 23, false, 3, 6, 1, 4, 6, 4, 7, 3, ports11, ports12, attrs6, types10},
    {"ai.onnx", "Attention", 24, 24, false, 3, 7, 1, 4, 7, 4, 7, 4, ports13, ports12, attrs6, types11},
    {"ai.onnx", "Attention", 25, 0, false, 3, 7, 1, 4, 7, 4, 9, 4, ports13, ports12, attrs7, types11},
    {"ai.onnx", "AveragePool", 1, 6, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs8, types0},
    {"ai.onnx", "AveragePool", 7, 9, false, 1, 1, 1, 1, 1, 1, 5, 1, ports0, ports1, attrs9, types0},
    {"ai.onnx", "AveragePool", 10, 10, false, 1, 1, 1, 1, 1, 1, 6, 1, ports0, ports1, attrs10, types0},
    {"ai.onnx", "AveragePool", 11, 18, false, 1, 1, 1, 1, 1, 1, 6, 1, ports0, ports1, attrs10, types0},
    {"ai.onnx", "AveragePool", 19, 21, false, 1, 1, 1, 1, 1, 1, 7, 1, ports0, ports1, attrs11, types0},
    {"ai.onnx", "AveragePool", 22, 0, false, 1, 1, 1, 1, 1, 1, 7, 1, ports0, ports1, attrs11, types3},
    {"ai.onnx", "BatchNormalization", 1, 5, false, 5, 5, 1, 5, 5, 5, 5, 1, ports14, ports15, attrs12, types0},
    {"ai.onnx", "BatchNormalization", 6, 6, false, 5, 5, 1, 5, 5, 5, 4, 1, ports14, ports15, attrs13, types0},
    {"ai.onnx", "BatchNormalization", 7, 8, false, 5, 5, 1, 5, 5, 5, 3, 1, ports14, ports15, attrs14, types0},
    {"ai.onnx", "BatchNormalization", 9, 13, false, 5, 5, 1, 5, 5, 5, 2, 1, ports14, ports15, attrs15, types0},
    {"ai.onnx", "BatchNormalization", 14, 14, false, 5, 5, 1, 3, 5, 3, 3, 2, ports16, ports17, attrs16, types12},
    {"ai.onnx", "BatchNormalization", 15, 0, false, 5, 5, 1, 3, 5, 3, 3, 3, ports18, ports19, attrs16, types13},
    {"ai.onnx", "Bernoulli", 15, 21, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs17, types14},
    {"ai.onnx", "Bernoulli", 22, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs17, types15},
    {"ai.onnx", "BitCast", 26, 0, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs18, types16},
    {"ai.onnx", "BitShift", 11, 27, false, 2, 2, 1, 1, 2, 1, 1, 1, ports21, ports22, attrs19, types17},
    {"ai.onnx", "BitShift", 28, 0, false, 2, 2, 1, 1, 2, 1, 1, 1, ports21, ports22, attrs19, types18},
    {"ai.onnx", "BitwiseAnd", 18, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types18},
    {"ai.onnx", "BitwiseNot", 18, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types18},
    {"ai.onnx", "BitwiseOr", 18, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types18},
    {"ai.onnx", "BitwiseXor", 18, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types18},
    {"ai.onnx", "BlackmanWindow", 17, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports23, ports20, attrs20, types19},
    {"ai.onnx", "Cast", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs21, types20},
    {"ai.onnx", "Cast", 6, 8, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs18, types20},
    {"ai.onnx", "Cast", 9, 12, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs18, types21},
    {"ai.onnx", "Cast", 13, 18, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs18, types22},
    {"ai.onnx", "Cast", 19, 20, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs22, types23},
    {"ai.onnx", "Cast", 21, 22, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs22, types24},
    {"ai.onnx", "Cast", 23, 23, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs22, types25},
    {"ai.onnx", "Cast", 24, 24, false, 1, 1, 1, 1, 1, 1, 3, 2, ports2, ports20, attrs23, types26},
    {"ai.onnx", "Cast", 25, 27, false, 1, 1, 1, 1, 1, 1, 3, 2, ports2, ports20, attrs23, types27},
    {"ai.onnx", "Cast", 28, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports2, ports20, attrs23, types28},
    {"ai.onnx", "CastLike", 15, 18, false, 2, 2, 1, 1, 2, 1, 0, 2, ports24, ports20, NULL, types22},
    {"ai.onnx", "CastLike", 19, 20, false, 2, 2, 1, 1, 2, 1, 1, 2, ports24, ports20, attrs24, types23},
    {"ai.onnx", "CastLike", 21, 22, false, 2, 2, 1, 1, 2, 1, 1, 2, ports24, ports20, attrs24, types24},
    {"ai.onnx", "CastLike", 23, 23, false, 2, 2, 1, 1, 2, 1, 1, 2, ports24, ports20, attrs24, types25},
    {"ai.onnx", "CastLike", 24, 24, false, 2, 2, 1, 1, 2, 1, 2, 2, ports24, ports20, attrs25, types26},
    {"ai.onnx", "CastLike", 25, 0, false, 2, 2, 1, 1, 2, 1, 2, 2, ports24, ports20, attrs25, types27},
    {"ai.onnx", "CausalConvWithState", 27, 0, false, 2, 4, 2, 2, 4, 2, 1, 1, ports25, ports26, attrs26, types29},
    {"ai.onnx", "Ceil", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Ceil", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Ceil", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Celu", 12, 27, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types30},
    {"ai.onnx", "Celu", 28, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types3},
    {"ai.onnx", "CenterCropPad", 18, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports27, ports28, attrs28, types31},
    {"ai.onnx", "Clip", 1, 5, false, 1, 1, 1, 1, 1, 1, 3, 1, ports2, ports3, attrs29, types0},
    {"ai.onnx", "Clip", 6, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs30, types0},
    {"ai.onnx", "Clip", 11, 11, false, 1, 3, 1, 1, 3, 1, 0, 1, ports29, ports3, NULL, types0},
    {"ai.onnx", "Clip", 12, 12, false, 1, 3, 1, 1, 3, 1, 0, 1, ports29, ports3, NULL, types1},
    {"ai.onnx", "Clip", 13, 0, false, 1, 3, 1, 1, 3, 1, 0, 1, ports29, ports3, NULL, types2},
    {"ai.onnx", "Col2Im", 18, 0, false, 3, 3, 1, 1, 3, 1, 3, 2, ports30, ports3, attrs31, types32},
    {"ai.onnx", "Compress", 9, 10, false, 2, 2, 1, 1, 2, 1, 1, 2, ports31, ports3, attrs32, types33},
    {"ai.onnx", "Compress", 11, 27, false, 2, 2, 1, 1, 2, 1, 1, 2, ports31, ports3, attrs32, types33},
    {"ai.onnx", "Compress", 28, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports31, ports3, attrs32, types34},
    {"ai.onnx", "Concat", 1, 3, false, 1, 255, 1, 1, 1, 1, 1, 1, ports32, ports33, attrs32, types0},
    {"ai.onnx", "Concat", 4, 10, false, 1, 255, 1, 1, 1, 1, 1, 1, ports32, ports33, attrs33, types35},
    {"ai.onnx", "Concat", 11, 12, false, 1, 255, 1, 1, 1, 1, 1, 1, ports32, ports33, attrs33, types35},
    {"ai.onnx", "Concat", 13, 0, false, 1, 255, 1, 1, 1, 1, 1, 1, ports32, ports33, attrs33, types36},
    {"ai.onnx", "ConcatFromSequence", 11, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports34, ports35, attrs34, types37},
    {"ai.onnx", "Constant", 1, 8, false, 0, 0, 1, 1, 0, 1, 1, 1, NULL, ports3, attrs35, types0},
    {"ai.onnx", "Constant", 9, 10, false, 0, 0, 1, 1, 0, 1, 1, 1, NULL, ports3, attrs35, types35},
    {"ai.onnx", "Constant", 11, 11, false, 0, 0, 1, 1, 0, 1, 2, 1, NULL, ports3, attrs36, types35},
    {"ai.onnx", "Constant", 12, 12, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types35},
    {"ai.onnx", "Constant", 13, 18, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types36},
    {"ai.onnx", "Constant", 19, 20, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types38},
    {"ai.onnx", "Constant", 21, 22, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types39},
    {"ai.onnx", "Constant", 23, 23, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types40},
    {"ai.onnx", "Constant", 24, 24, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types41},
    {"ai.onnx", "Constant", 25, 0, false, 0, 0, 1, 1, 0, 1, 8, 1, NULL, ports3, attrs37, types42},
    {"ai.onnx", "ConstantOfShape", 9, 19, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types43},
    {"ai.onnx", "ConstantOfShape", 20, 20, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types44},
    {"ai.onnx", "ConstantOfShape", 21, 22, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types45},
    {"ai.onnx", "ConstantOfShape", 23, 23, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types46},
    {"ai.onnx", "ConstantOfShape", 24, 24, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types47},
    {"ai.onnx", "ConstantOfShape", 25, 0, false, 1, 1, 1, 1, 1, 1, 1, 2, ports2, ports20, attrs38, types48},
    {"ai.onnx", "Conv", 1, 10, false, 2, 3, 1, 1, 3, 1, 6, 1, ports36, ports1, attrs39, types0},
    {"ai.onnx", "Conv", 11, 21, false, 2, 3, 1, 1, 3, 1, 6, 1, ports36, ports1, attrs39, types0},
    {"ai.onnx", "Conv", 22, 0, false, 2, 3, 1, 1, 3, 1, 6, 1, ports36, ports1, attrs39, types3},
    {"ai.onnx", "ConvInteger", 10, 0, false, 2, 4, 1, 1, 4, 1, 6, 3, ports37, ports38, attrs39, types49},
    {"ai.onnx", "ConvTranspose", 1, 10, false, 2, 3, 1, 1, 3, 1, 8, 1, ports36, ports1, attrs40, types0},
    {"ai.onnx", "ConvTranspose", 11, 21, false, 2, 3, 1, 1, 3, 1, 8, 1, ports36, ports1, attrs40, types0},
    {"ai.onnx", "ConvTranspose", 22, 0, false, 2, 3, 1, 1, 3, 1, 8, 1, ports36, ports1, attrs40, types3},
    {"ai.onnx", "Cos", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Cos", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Cosh", 9, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Cosh", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "CumProd", 26, 0, false, 2, 2, 1, 1, 2, 1, 2, 2, ports39, ports40, attrs41, types50},
    {"ai.onnx", "CumSum", 11, 13, false, 2, 2, 1, 1, 2, 1, 2, 2, ports39, ports40, attrs41, types51},
    {"ai.onnx", "CumSum", 14, 0, false, 2, 2, 1, 1, 2, 1, 2, 2, ports39, ports40, attrs41, types50},
    {"ai.onnx", "DFT", 17, 19, false, 1, 2, 1, 1, 2, 1, 3, 2, ports41, ports3, attrs42, types52},
    {"ai.onnx", "DFT", 20, 0, false, 1, 3, 1, 1, 3, 1, 2, 3, ports42, ports3, attrs43, types53},
    {"ai.onnx", "DeformConv", 19, 21, false, 3, 5, 1, 1, 5, 1, 6, 1, ports43, ports1, attrs44, types0},
    {"ai.onnx", "DeformConv", 22, 0, false, 3, 5, 1, 1, 5, 1, 6, 1, ports43, ports1, attrs44, types3},
    {"ai.onnx", "DepthToSpace", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs45, types35},
    {"ai.onnx", "DepthToSpace", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs46, types35},
    {"ai.onnx", "DepthToSpace", 13, 27, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs46, types36},
    {"ai.onnx", "DepthToSpace", 28, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs46, types36},
    {"ai.onnx", "DequantizeLinear", 10, 12, false, 2, 3, 1, 1, 3, 1, 0, 2, ports44, ports45, NULL, types54},
    {"ai.onnx", "DequantizeLinear", 13, 18, false, 2, 3, 1, 1, 3, 1, 1, 2, ports44, ports45, attrs47, types54},
    {"ai.onnx", "DequantizeLinear", 19, 20, false, 2, 3, 1, 1, 3, 1, 1, 2, ports44, ports45, attrs47, types55},
    {"ai.onnx", "DequantizeLinear", 21, 22, false, 2, 3, 1, 1, 3, 1, 2, 2, ports44, ports45, attrs48, types56},
    {"ai.onnx", "DequantizeLinear", 23, 23, false, 2, 3, 1, 1, 3, 1, 3, 3, ports44, ports38, attrs49, types57},
    {"ai.onnx", "DequantizeLinear", 24, 24, false, 2, 3, 1, 1, 3, 1, 3, 3, ports44, ports38, attrs49, types58},
    {"ai.onnx", "DequantizeLinear", 25, 27, false, 2, 3, 1, 1, 3, 1, 3, 3, ports44, ports38, attrs49, types59},
    {"ai.onnx", "DequantizeLinear", 28, 0, false, 2, 3, 1, 1, 3, 1, 3, 3, ports44, ports38, attrs49, types60},
    {"ai.onnx", "Det", 11, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Det", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Div", 1, 5, false, 2, 2, 1, 1, 2, 1, 3, 1, ports4, ports5, attrs1, types0},
    {"ai.onnx", "Div", 6, 6, false, 2, 2, 1, 1, 2, 1, 2, 1, ports4, ports5, attrs2, types4},
    {"ai.onnx", "Div", 7, 12, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types4},
    {"ai.onnx", "Div", 13, 13, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types5},
    {"ai.onnx", "Div", 14, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types2},
    {"ai.onnx", "Dropout", 1, 5, false, 1, 1, 1, 2, 1, 2, 3, 1, ports9, ports46, attrs50, types0},
    {"ai.onnx", "Dropout", 6, 6, false, 1, 1, 1, 2, 1, 2, 2, 1, ports9, ports46, attrs51, types0},
    {"ai.onnx", "Dropout", 7, 9, false, 1, 1, 1, 2, 1, 2, 1, 1, ports9, ports46, attrs52, types0},
    {"ai.onnx", "Dropout", 10, 11, false, 1, 1, 1, 2, 1, 2, 1, 2, ports9, ports47, attrs52, types61},
    {"ai.onnx", "Dropout", 12, 12, false, 1, 3, 1, 2, 3, 2, 1, 3, ports48, ports49, attrs53, types62},
    {"ai.onnx", "Dropout", 13, 21, false, 1, 3, 1, 2, 3, 2, 1, 3, ports48, ports49, attrs53, types63},
    {"ai.onnx", "Dropout", 22, 0, false, 1, 3, 1, 2, 3, 2, 1, 3, ports48, ports49, attrs53, types64},
    {"ai.onnx", "DynamicQuantizeLinear", 11, 0, false, 1, 1, 3, 3, 1, 3, 0, 3, ports50, ports51, NULL, types65},
    {"ai.onnx", "Einsum", 12, 27, false, 1, 255, 1, 1, 1, 1, 1, 1, ports52, ports53, attrs54, types1},
    {"ai.onnx", "Einsum", 28, 0, false, 1, 255, 1, 1, 1, 1, 1, 1, ports52, ports53, attrs54, types2},
    {"ai.onnx", "Elu", 1, 5, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs55, types0},
    {"ai.onnx", "Elu", 6, 21, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types0},
    {"ai.onnx", "Elu", 22, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types3},
    {"ai.onnx", "Equal", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types66},
    {"ai.onnx", "Equal", 7, 10, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types66},
    {"ai.onnx", "Equal", 11, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types67},
    {"ai.onnx", "Equal", 13, 18, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types68},
    {"ai.onnx", "Equal", 19, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types69},
    {"ai.onnx", "Erf", 9, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types1},
    {"ai.onnx", "Erf", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Exp", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs0, types0},
    {"ai.onnx", "Exp", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Exp", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Expand", 8, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports54, ports3, NULL, types70},
    {"ai.onnx", "Expand", 13, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports54, ports3, NULL, types32},
    {"ai.onnx", "EyeLike", 9, 21, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs56, types20},
    {"ai.onnx", "EyeLike", 22, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports2, ports20, attrs56, types71},
    {"ai.onnx", "Flatten", 1, 8, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "Flatten", 9, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types35},
    {"ai.onnx", "Flatten", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types35},
    {"ai.onnx", "Flatten", 13, 20, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types36},
    {"ai.onnx", "Flatten", 21, 22, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types39},
    {"ai.onnx", "Flatten", 23, 23, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types40},
    {"ai.onnx", "Flatten", 24, 24, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types41},
    {"ai.onnx", "Flatten", 25, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types42},
    {"ai.onnx", "Floor", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Floor", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Floor", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "GRU", 1, 2, false, 3, 6, 2, 2, 6, 2, 7, 2, ports55, ports56, attrs57, types72},
    {"ai.onnx", "GRU", 3, 6, false, 3, 6, 0, 2, 6, 2, 8, 2, ports55, ports57, attrs58, types72},
    {"ai.onnx", "GRU", 7, 13, false, 3, 6, 0, 2, 6, 2, 7, 2, ports55, ports57, attrs59, types72},
    {"ai.onnx", "GRU", 14, 21, false, 3, 6, 0, 2, 6, 2, 8, 2, ports55, ports57, attrs60, types72},
    {"ai.onnx", "GRU", 22, 0, false, 3, 6, 0, 2, 6, 2, 8, 2, ports55, ports57, attrs60, types73},
    {"ai.onnx", "Gather", 1, 10, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs61, types74},
    {"ai.onnx", "Gather", 11, 12, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs61, types74},
    {"ai.onnx", "Gather", 13, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs61, types31},
    {"ai.onnx", "GatherElements", 11, 12, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs61, types74},
    {"ai.onnx", "GatherElements", 13, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs61, types31},
    {"ai.onnx", "GatherND", 11, 11, false, 2, 2, 1, 1, 2, 1, 0, 2, ports58, ports3, NULL, types70},
    {"ai.onnx", "GatherND", 12, 12, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs62, types70},
    {"ai.onnx", "GatherND", 13, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports58, ports3, attrs62, types32},
    {"ai.onnx", "Gelu", 20, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs63, types3},
    {"ai.onnx", "Gemm", 1, 5, false, 3, 3, 1, 1, 3, 1, 5, 1, ports59, ports1, attrs64, types0},
    {"ai.onnx", "Gemm", 6, 6, false, 3, 3, 1, 1, 3, 1, 5, 1, ports59, ports1, attrs64, types0},
    {"ai.onnx", "Gemm", 7, 8, false, 3, 3, 1, 1, 3, 1, 4, 1, ports59, ports1, attrs65, types0},
    {"ai.onnx", "Gemm", 9, 10, false, 3, 3, 1, 1, 3, 1, 4, 1, ports59, ports1, attrs65, types4},
    {"ai.onnx", "Gemm", 11, 12, false, 2, 3, 1, 1, 3, 1, 4, 1, ports60, ports1, attrs65, types4},
    {"ai.onnx", "Gemm", 13, 0, false, 2, 3, 1, 1, 3, 1, 4, 1, ports60, ports1, attrs65, types5},
    {"ai.onnx", "GlobalAveragePool", 1, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "GlobalAveragePool", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "GlobalLpPool", 1, 1, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs66, types0},
    {"ai.onnx", "GlobalLpPool", 2, 21, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs67, types0},
    {"ai.onnx", "GlobalLpPool", 22, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs67, types3},
    {"ai.onnx", "GlobalMaxPool", 1, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "GlobalMaxPool", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Greater", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types61},
    {"ai.onnx", "Greater", 7, 8, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types61},
    {"ai.onnx", "Greater", 9, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types75},
    {"ai.onnx", "Greater", 13, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types76},
    {"ai.onnx", "GreaterOrEqual", 12, 15, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types75},
    {"ai.onnx", "GreaterOrEqual", 16, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types76},
    {"ai.onnx", "GridSample", 16, 19, false, 2, 2, 1, 1, 2, 1, 3, 2, ports61, ports1, attrs68, types77},
    {"ai.onnx", "GridSample", 20, 21, false, 2, 2, 1, 1, 2, 1, 3, 2, ports61, ports1, attrs69, types77},
    {"ai.onnx", "GridSample", 22, 0, false, 2, 2, 1, 1, 2, 1, 3, 2, ports61, ports1, attrs69, types78},
    {"ai.onnx", "GroupNormalization", 18, 20, true, 3, 3, 1, 1, 3, 1, 2, 1, ports62, ports1, attrs70, types3},
    {"ai.onnx", "GroupNormalization", 21, 0, false, 3, 3, 1, 1, 3, 1, 3, 1, ports62, ports1, attrs71, types3},
    {"ai.onnx", "HammingWindow", 17, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports23, ports20, attrs20, types19},
    {"ai.onnx", "HannWindow", 17, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports23, ports20, attrs20, types19},
    {"ai.onnx", "HardSigmoid", 1, 5, false, 1, 1, 1, 1, 1, 1, 3, 1, ports0, ports1, attrs72, types0},
    {"ai.onnx", "HardSigmoid", 6, 21, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs73, types0},
    {"ai.onnx", "HardSigmoid", 22, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs73, types3},
    {"ai.onnx", "HardSwish", 14, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "HardSwish", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Hardmax", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "Hardmax", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "Hardmax", 13, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs74, types3},
    {"ai.onnx", "Identity", 1, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types35},
    {"ai.onnx", "Identity", 13, 13, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types36},
    {"ai.onnx", "Identity", 14, 15, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types79},
    {"ai.onnx", "Identity", 16, 18, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types80},
    {"ai.onnx", "Identity", 19, 20, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types81},
    {"ai.onnx", "Identity", 21, 22, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types82},
    {"ai.onnx", "Identity", 23, 23, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types83},
    {"ai.onnx", "Identity", 24, 24, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types84},
    {"ai.onnx", "Identity", 25, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types85},
    {"ai.onnx", "If", 1, 10, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types86},
    {"ai.onnx", "If", 11, 12, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types86},
    {"ai.onnx", "If", 13, 15, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types87},
    {"ai.onnx", "If", 16, 18, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types88},
    {"ai.onnx", "If", 19, 20, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types89},
    {"ai.onnx", "If", 21, 22, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types90},
    {"ai.onnx", "If", 23, 23, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types91},
    {"ai.onnx", "If", 24, 24, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types92},
    {"ai.onnx", "If", 25, 0, false, 1, 1, 1, 255, 1, 1, 2, 2, ports63, ports64, attrs75, types93},
    {"ai.onnx", "ImageDecoder", 20, 0, false, 1, 1, 1, 1, 1, 1, 1, 2, ports65, ports66, attrs76, types94},
    {"ai.onnx", "InstanceNormalization", 1, 5, false, 3, 3, 1, 1, 3, 1, 2, 1, ports67, ports3, attrs77, types0},
    {"ai.onnx", "InstanceNormalization", 6, 21, false, 3, 3, 1, 1, 3, 1, 1, 1, ports67, ports3, attrs78, types0},
    {"ai.onnx", "InstanceNormalization", 22, 0, false, 3, 3, 1, 1, 3, 1, 1, 1, ports67, ports3, attrs78, types3},
    {"ai.onnx", "IsInf", 10, 19, false, 1, 1, 1, 1, 1, 1, 2, 2, ports0, ports68, attrs79, types95},
    {"ai.onnx", "IsInf", 20, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports0, ports68, attrs79, types96},
    {"ai.onnx", "IsNaN", 9, 12, false, 1, 1, 1, 1, 1, 1, 0, 2, ports0, ports68, NULL, types97},
    {"ai.onnx", "IsNaN", 13, 19, false, 1, 1, 1, 1, 1, 1, 0, 2, ports0, ports68, NULL, types98},
    {"ai.onnx", "IsNaN", 20, 0, false, 1, 1, 1, 1, 1, 1, 0, 2, ports0, ports68, NULL, types96},
    {"ai.onnx", "LRN", 1, 12, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs80, types0},
    {"ai.onnx", "LRN", 13, 0, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs80, types3},
    {"ai.onnx", "LSTM", 1, 6, false, 3, 8, 0, 3, 8, 3, 8, 2, ports69, ports70, attrs81, types72},
    {"ai.onnx", "LSTM", 7, 13, false, 3, 8, 0, 3, 8, 3, 7, 2, ports69, ports70, attrs82, types72},
    {"ai.onnx", "LSTM", 14, 21, false, 3, 8, 0, 3, 8, 3, 8, 2, ports69, ports70, attrs83, types72},
    {"ai.onnx", "LSTM", 22, 0, false, 3, 8, 0, 3, 8, 3, 8, 2, ports69, ports70, attrs83, types73},
    {"ai.onnx", "LayerNormalization", 17, 0, false, 2, 3, 1, 3, 3, 3, 3, 2, ports71, ports72, attrs84, types99},
    {"ai.onnx", "LeakyRelu", 1, 5, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs85, types0},
    {"ai.onnx", "LeakyRelu", 6, 15, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs86, types0},
    {"ai.onnx", "LeakyRelu", 16, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs86, types3},
    {"ai.onnx", "Less", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types61},
    {"ai.onnx", "Less", 7, 8, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types61},
    {"ai.onnx", "Less", 9, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types75},
    {"ai.onnx", "Less", 13, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types76},
    {"ai.onnx", "LessOrEqual", 12, 15, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types75},
    {"ai.onnx", "LessOrEqual", 16, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types76},
    {"ai.onnx", "LinearAttention", 27, 0, false, 3, 6, 2, 2, 6, 2, 5, 2, ports73, ports74, attrs87, types100},
    {"ai.onnx", "Log", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs0, types0},
    {"ai.onnx", "Log", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Log", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "LogSoftmax", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "LogSoftmax", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "LogSoftmax", 13, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs74, types3},
    {"ai.onnx", "Loop", 1, 10, false, 3, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types101},
    {"ai.onnx", "Loop", 11, 12, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types101},
    {"ai.onnx", "Loop", 13, 15, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types102},
    {"ai.onnx", "Loop", 16, 18, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types103},
    {"ai.onnx", "Loop", 19, 20, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types104},
    {"ai.onnx", "Loop", 21, 22, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types105},
    {"ai.onnx", "Loop", 23, 23, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types106},
    {"ai.onnx", "Loop", 24, 24, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types107},
    {"ai.onnx", "Loop", 25, 0, false, 2, 255, 1, 255, 3, 1, 1, 3, ports75, ports76, attrs88, types108},
    {"ai.onnx", "LpNormalization", 1, 21, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs89, types0},
    {"ai.onnx", "LpNormalization", 22, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs89, types3},
    {"ai.onnx", "LpPool", 1, 1, false, 1, 1, 1, 1, 1, 1, 5, 1, ports0, ports1, attrs90, types0},
    {"ai.onnx", "LpPool", 2, 10, false, 1, 1, 1, 1, 1, 1, 5, 1, ports0, ports1, attrs91, types0},
    {"ai.onnx", "LpPool", 11, 17, false, 1, 1, 1, 1, 1, 1, 5, 1, ports0, ports1, attrs91, types0},
    {"ai.onnx", "LpPool", 18, 21, false, 1, 1, 1, 1, 1, 1, 7, 1, ports0, ports1, attrs92, types0},
    {"ai.onnx", "LpPool", 22, 0, false, 1, 1, 1, 1, 1, 1, 7, 1, ports0, ports1, attrs92, types3},
    {"ai.onnx", "MatMul", 1, 8, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports1, NULL, types0},
    {"ai.onnx", "MatMul", 9, 12, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports1, NULL, types4},
    {"ai.onnx", "MatMul", 13, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports1, NULL, types5},
    {"ai.onnx", "MatMulInteger", 10, 0, false, 2, 4, 1, 1, 4, 1, 0, 3, ports77, ports78, NULL, types49},
    {"ai.onnx", "Max", 1, 5, false, 1, 255, 1, 1, 1, 1, 1, 1, ports79, ports80, attrs0, types0},
    {"ai.onnx", "Max", 6, 7, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports80, NULL, types0},
    {"ai.onnx", "Max", 8, 11, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports80, NULL, types0},
    {"ai.onnx", "Max", 12, 12, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports80, NULL, types1},
    {"ai.onnx", "Max", 13, 0, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports80, NULL, types2},
    {"ai.onnx", "MaxPool", 1, 7, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs8, types0},
    {"ai.onnx", "MaxPool", 8, 9, false, 1, 1, 1, 2, 1, 2, 5, 2, ports0, ports81, attrs93, types109},
    {"ai.onnx", "MaxPool", 10, 10, false, 1, 1, 1, 2, 1, 2, 7, 2, ports0, ports81, attrs94, types109},
    {"ai.onnx", "MaxPool", 11, 11, false, 1, 1, 1, 2, 1, 2, 7, 2, ports0, ports81, attrs94, types109},
    {"ai.onnx", "MaxPool", 12, 21, false, 1, 1, 1, 2, 1, 2, 7, 2, ports0, ports81, attrs94, types110},
    {"ai.onnx", "MaxPool", 22, 0, false, 1, 1, 1, 2, 1, 2, 7, 2, ports0, ports81, attrs94, types111},
    {"ai.onnx", "MaxRoiPool", 1, 21, false, 2, 2, 1, 1, 2, 1, 2, 1, ports82, ports1, attrs95, types0},
    {"ai.onnx", "MaxRoiPool", 22, 0, false, 2, 2, 1, 1, 2, 1, 2, 1, ports82, ports1, attrs95, types3},
    {"ai.onnx", "MaxUnpool", 9, 10, false, 2, 3, 1, 1, 3, 1, 3, 2, ports83, ports3, attrs96, types112},
    {"ai.onnx", "MaxUnpool", 11, 21, false, 2, 3, 1, 1, 3, 1, 3, 2, ports83, ports3, attrs96, types112},
    {"ai.onnx", "MaxUnpool", 22, 0, false, 2, 3, 1, 1, 3, 1, 3, 2, ports83, ports3, attrs96, types6},
    {"ai.onnx", "Mean", 1, 5, false, 1, 255, 1, 1, 1, 1, 1, 1, ports79, ports84, attrs0, types0},
    {"ai.onnx", "Mean", 6, 7, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports84, NULL, types0},
    {"ai.onnx", "Mean", 8, 12, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports84, NULL, types0},
    {"ai.onnx", "Mean", 13, 0, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports84, NULL, types3},
    {"ai.onnx", "MeanVarianceNormalization", 9, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs97, types0},
    {"ai.onnx", "MeanVarianceNormalization", 13, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs97, types3},
    {"ai.onnx", "MelWeightMatrix", 17, 0, false, 5, 5, 1, 1, 5, 1, 1, 3, ports85, ports86, attrs98, types113},
    {"ai.onnx", "Min", 1, 5, false, 1, 255, 1, 1, 1, 1, 1, 1, ports79, ports87, attrs0, types0},
    {"ai.onnx", "Min", 6, 7, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports87, NULL, types0},
    {"ai.onnx", "Min", 8, 11, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports87, NULL, types0},
    {"ai.onnx", "Min", 12, 12, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports87, NULL, types1},
    {"ai.onnx", "Min", 13, 0, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports87, NULL, types2},
    {"ai.onnx", "Mish", 18, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Mish", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Mod", 10, 12, false, 2, 2, 1, 1, 2, 1, 1, 1, ports4, ports5, attrs99, types1},
    {"ai.onnx", "Mod", 13, 27, false, 2, 2, 1, 1, 2, 1, 1, 1, ports4, ports5, attrs99, types2},
    {"ai.onnx", "Mod", 28, 0, false, 2, 2, 1, 1, 2, 1, 1, 1, ports4, ports5, attrs99, types2},
    {"ai.onnx", "Mul", 1, 5, false, 2, 2, 1, 1, 2, 1, 3, 1, ports4, ports5, attrs1, types0},
    {"ai.onnx", "Mul", 6, 6, false, 2, 2, 1, 1, 2, 1, 2, 1, ports4, ports5, attrs2, types4},
    {"ai.onnx", "Mul", 7, 12, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types4},
    {"ai.onnx", "Mul", 13, 13, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types5},
    {"ai.onnx", "Mul", 14, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types2},
    {"ai.onnx", "Multinomial", 7, 21, false, 1, 1, 1, 1, 1, 1, 3, 2, ports2, ports20, attrs100, types114},
    {"ai.onnx", "Multinomial", 22, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports2, ports20, attrs100, types52},
    {"ai.onnx", "Neg", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Neg", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types115},
    {"ai.onnx", "Neg", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types116},
    {"ai.onnx", "NegativeLogLikelihoodLoss", 12, 12, false, 2, 3, 1, 1, 3, 1, 2, 2, ports88, ports89, attrs101, types117},
    {"ai.onnx", "NegativeLogLikelihoodLoss", 13, 21, false, 2, 3, 1, 1, 3, 1, 2, 2, ports88, ports89, attrs101, types117},
    {"ai.onnx", "NegativeLogLikelihoodLoss", 22, 0, false, 2, 3, 1, 1, 3, 1, 2, 2, ports88, ports89, attrs101, types118},
    {"ai.onnx", "NonMaxSuppression", 10, 10, false, 2, 5, 1, 1, 5, 1, 1, 2, ports90, ports91, attrs102, types119},
    {"ai.onnx", "NonMaxSuppression", 11, 0, false, 2, 5, 1, 1, 5, 1, 1, 2, ports90, ports91, attrs102, types119},
    {"ai.onnx", "NonZero", 9, 12, false, 1, 1, 1, 1, 1, 1, 0, 2, ports0, ports68, NULL, types70},
    {"ai.onnx", "NonZero", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 2, ports0, ports68, NULL, types32},
    {"ai.onnx", "Not", 1, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types120},
    {"ai.onnx", "OneHot", 9, 10, false, 3, 3, 1, 1, 3, 1, 1, 3, ports92, ports86, attrs74, types121},
    {"ai.onnx", "OneHot", 11, 27, false, 3, 3, 1, 1, 3, 1, 1, 3, ports92, ports86, attrs74, types121},
    {"ai.onnx", "OneHot", 28, 0, false, 3, 3, 1, 1, 3, 1, 1, 3, ports92, ports86, attrs74, types122},
    {"ai.onnx", "Optional", 15, 27, false, 0, 1, 1, 1, 1, 1, 1, 2, ports93, ports20, attrs103, types123},
    {"ai.onnx", "Optional", 28, 0, false, 0, 1, 1, 1, 1, 1, 1, 2, ports93, ports20, attrs103, types124},
    {"ai.onnx", "OptionalGetElement", 15, 17, false, 1, 1, 1, 1, 1, 1, 0, 2, ports2, ports20, NULL, types125},
    {"ai.onnx", "OptionalGetElement", 18, 27, false, 1, 1, 1, 1, 1, 1, 0, 2, ports2, ports20, NULL, types126},
    {"ai.onnx", "OptionalGetElement", 28, 0, false, 1, 1, 1, 1, 1, 1, 0, 2, ports2, ports20, NULL, types127},
    {"ai.onnx", "OptionalHasElement", 15, 17, false, 1, 1, 1, 1, 1, 1, 0, 2, ports2, ports20, NULL, types128},
    {"ai.onnx", "OptionalHasElement", 18, 27, false, 0, 1, 1, 1, 1, 1, 0, 2, ports93, ports20, NULL, types129},
    {"ai.onnx", "OptionalHasElement", 28, 0, false, 0, 1, 1, 1, 1, 1, 0, 2, ports93, ports20, NULL, types130},
    {"ai.onnx", "Or", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types7},
    {"ai.onnx", "Or", 7, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types7},
    {"ai.onnx", "PRelu", 1, 5, false, 2, 2, 1, 1, 2, 1, 1, 1, ports94, ports1, attrs0, types0},
    {"ai.onnx", "PRelu", 6, 6, false, 2, 2, 1, 1, 2, 1, 0, 1, ports94, ports1, NULL, types0},
    {"ai.onnx", "PRelu", 7, 8, false, 2, 2, 1, 1, 2, 1, 0, 1, ports94, ports1, NULL, types0},
    {"ai.onnx", "PRelu", 9, 15, false, 2, 2, 1, 1, 2, 1, 0, 1, ports94, ports1, NULL, types4},
    {"ai.onnx", "PRelu", 16, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports94, ports1, NULL, types5},
    {"ai.onnx", "Pad", 1, 1, false, 1, 1, 1, 1, 1, 1, 3, 1, ports9, ports3, attrs104, types0},
    {"ai.onnx", "Pad", 2, 10, false, 1, 1, 1, 1, 1, 1, 3, 1, ports9, ports3, attrs105, types0},
    {"ai.onnx", "Pad", 11, 12, false, 2, 3, 1, 1, 3, 1, 1, 2, ports95, ports3, attrs106, types8},
    {"ai.onnx", "Pad", 13, 17, false, 2, 3, 1, 1, 3, 1, 1, 2, ports95, ports3, attrs106, types32},
    {"ai.onnx", "Pad", 18, 18, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types131},
    {"ai.onnx", "Pad", 19, 20, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types131},
    {"ai.onnx", "Pad", 21, 22, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types132},
    {"ai.onnx", "Pad", 23, 23, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types133},
    {"ai.onnx", "Pad", 24, 24, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types134},
    {"ai.onnx", "Pad", 25, 0, false, 2, 4, 1, 1, 4, 1, 1, 3, ports96, ports3, attrs106, types135},
    {"ai.onnx", "Pow", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 1, ports21, ports22, attrs2, types0},
    {"ai.onnx", "Pow", 7, 11, false, 2, 2, 1, 1, 2, 1, 0, 1, ports21, ports22, NULL, types0},
    {"ai.onnx", "Pow", 12, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports97, ports22, NULL, types136},
    {"ai.onnx", "Pow", 13, 14, false, 2, 2, 1, 1, 2, 1, 0, 2, ports97, ports22, NULL, types137},
    {"ai.onnx", "Pow", 15, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports97, ports22, NULL, types138},
    {"ai.onnx", "QLinearConv", 10, 0, false, 8, 9, 1, 1, 9, 1, 6, 5, ports98, ports38, attrs39, types139},
    {"ai.onnx", "QLinearMatMul", 10, 20, false, 8, 8, 1, 1, 8, 1, 0, 4, ports99, ports38, NULL, types140},
    {"ai.onnx", "QLinearMatMul", 21, 0, false, 8, 8, 1, 1, 8, 1, 0, 4, ports100, ports101, NULL, types141},
    {"ai.onnx", "QuantizeLinear", 10, 12, false, 2, 3, 1, 1, 3, 1, 0, 3, ports102, ports45, NULL, types142},
    {"ai.onnx", "QuantizeLinear", 13, 18, false, 2, 3, 1, 1, 3, 1, 1, 3, ports102, ports45, attrs47, types142},
    {"ai.onnx", "QuantizeLinear", 19, 20, false, 2, 3, 1, 1, 3, 1, 2, 2, ports103, ports45, attrs107, types143},
    {"ai.onnx", "QuantizeLinear", 21, 22, false, 2, 3, 1, 1, 3, 1, 4, 2, ports103, ports45, attrs108, types144},
    {"ai.onnx", "QuantizeLinear", 23, 23, false, 2, 3, 1, 1, 3, 1, 5, 3, ports104, ports38, attrs109, types145},
    {"ai.onnx", "QuantizeLinear", 24, 24, false, 2, 3, 1, 1, 3, 1, 5, 3, ports104, ports38, attrs109, types146},
    {"ai.onnx", "QuantizeLinear", 25, 27, false, 2, 3, 1, 1, 3, 1, 5, 3, ports104, ports38, attrs109, types147},
    {"ai.onnx", "QuantizeLinear", 28, 0, false, 2, 3, 1, 1, 3, 1, 5, 3, ports104, ports38, attrs109, types148},
    {"ai.onnx", "RMSNormalization", 23, 0, false, 2, 2, 1, 1, 2, 1, 3, 2, ports105, ports68, attrs84, types149},
    {"ai.onnx", "RNN", 1, 6, false, 3, 6, 0, 2, 6, 2, 7, 2, ports55, ports57, attrs110, types72},
    {"ai.onnx", "RNN", 7, 13, false, 3, 6, 0, 2, 6, 2, 6, 2, ports55, ports57, attrs111, types72},
    {"ai.onnx", "RNN", 14, 21, false, 3, 6, 0, 2, 6, 2, 7, 2, ports55, ports57, attrs112, types72},
    {"ai.onnx", "RNN", 22, 0, false, 3, 6, 0, 2, 6, 2, 7, 2, ports55, ports57, attrs112, types73},
    {"ai.onnx", "RandomNormal", 1, 21, false, 0, 0, 1, 1, 0, 1, 5, 1, NULL, ports3, attrs113, types0},
    {"ai.onnx", "RandomNormal", 22, 0, false, 0, 0, 1, 1, 0, 1, 5, 1, NULL, ports3, attrs113, types3},
    {"ai.onnx", "RandomNormalLike", 1, 21, false, 1, 1, 1, 1, 1, 1, 4, 2, ports2, ports20, attrs114, types77},
    {"ai.onnx", "RandomNormalLike", 22, 0, false, 1, 1, 1, 1, 1, 1, 4, 2, ports2, ports20, attrs114, types78},
    {"ai.onnx", "RandomUniform", 1, 21, false, 0, 0, 1, 1, 0, 1, 5, 1, NULL, ports3, attrs115, types0},
    {"ai.onnx", "RandomUniform", 22, 0, false, 0, 0, 1, 1, 0, 1, 5, 1, NULL, ports3, attrs115, types3},
    {"ai.onnx", "RandomUniformLike", 1, 21, false, 1, 1, 1, 1, 1, 1, 4, 2, ports2, ports20, attrs116, types77},
    {"ai.onnx", "RandomUniformLike", 22, 0, false, 1, 1, 1, 1, 1, 1, 4, 2, ports2, ports20, attrs116, types78},
    {"ai.onnx", "Range", 11, 26, false, 3, 3, 1, 1, 3, 1, 0, 1, ports106, ports3, NULL, types150},
    {"ai.onnx", "Range", 27, 0, false, 3, 3, 1, 1, 3, 1, 1, 1, ports106, ports3, attrs117, types151},
    {"ai.onnx", "Reciprocal", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Reciprocal", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Reciprocal", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "ReduceL1", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceL1", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceL1", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceL1", 18, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceL2", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceL2", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceL2", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceL2", 18, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceLogSum", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceLogSum", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceLogSum", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceLogSum", 18, 27, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceLogSum", 28, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types153},
    {"ai.onnx", "ReduceLogSumExp", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceLogSumExp", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceLogSumExp", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceLogSumExp", 18, 27, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceLogSumExp", 28, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types153},
    {"ai.onnx", "ReduceMax", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMax", 11, 11, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMax", 12, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types154},
    {"ai.onnx", "ReduceMax", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types155},
    {"ai.onnx", "ReduceMax", 18, 19, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types156},
    {"ai.onnx", "ReduceMax", 20, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types157},
    {"ai.onnx", "ReduceMean", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMean", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMean", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceMean", 18, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceMin", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMin", 11, 11, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceMin", 12, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types154},
    {"ai.onnx", "ReduceMin", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types155},
    {"ai.onnx", "ReduceMin", 18, 19, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types156},
    {"ai.onnx", "ReduceMin", 20, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types157},
    {"ai.onnx", "ReduceProd", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceProd", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceProd", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceProd", 18, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceSum", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceSum", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceSum", 13, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "ReduceSumSquare", 1, 10, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceSumSquare", 11, 12, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types4},
    {"ai.onnx", "ReduceSumSquare", 13, 17, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports107, attrs118, types5},
    {"ai.onnx", "ReduceSumSquare", 18, 0, false, 1, 2, 1, 1, 2, 1, 2, 2, ports108, ports107, attrs119, types152},
    {"ai.onnx", "RegexFullMatch", 20, 0, false, 1, 1, 1, 1, 1, 1, 1, 2, ports0, ports68, attrs120, types158},
    {"ai.onnx", "Relu", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Relu", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Relu", 13, 13, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Relu", 14, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types116},
    {"ai.onnx", "Reshape", 1, 4, false, 1, 1, 1, 1, 1, 1, 2, 1, ports9, ports109, attrs121, types0},
    {"ai.onnx", "Reshape", 5, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports110, ports109, NULL, types70},
    {"ai.onnx", "Reshape", 13, 13, false, 2, 2, 1, 1, 2, 1, 0, 2, ports110, ports109, NULL, types32},
    {"ai.onnx", "Reshape", 14, 18, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types32},
    {"ai.onnx", "Reshape", 19, 20, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types159},
    {"ai.onnx", "Reshape", 21, 22, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types160},
    {"ai.onnx", "Reshape", 23, 23, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types161},
    {"ai.onnx", "Reshape", 24, 24, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types162},
    {"ai.onnx", "Reshape", 25, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports110, ports109, attrs122, types163},
    {"ai.onnx", "Resize", 10, 10, false, 2, 2, 1, 1, 2, 1, 1, 2, ports111, ports1, attrs123, types164},
    {"ai.onnx", "Resize", 11, 12, false, 3, 4, 1, 1, 4, 1, 6, 4, ports112, ports1, attrs124, types165},
    {"ai.onnx", "Resize", 13, 17, false, 1, 4, 1, 1, 4, 1, 6, 4, ports113, ports1, attrs124, types166},
    {"ai.onnx", "Resize", 18, 18, false, 1, 4, 1, 1, 4, 1, 9, 4, ports113, ports1, attrs125, types166},
    {"ai.onnx", "Resize", 19, 0, false, 1, 4, 1, 1, 4, 1, 9, 4, ports113, ports1, attrs125, types166},
    {"ai.onnx", "ReverseSequence", 10, 27, false, 2, 2, 1, 1, 2, 1, 2, 2, ports114, ports1, attrs126, types70},
    {"ai.onnx", "ReverseSequence", 28, 0, false, 2, 2, 1, 1, 2, 1, 2, 2, ports114, ports1, attrs126, types32},
    {"ai.onnx", "RoiAlign", 10, 15, false, 3, 3, 1, 1, 3, 1, 5, 2, ports115, ports1, attrs127, types112},
    {"ai.onnx", "RoiAlign", 16, 21, false, 3, 3, 1, 1, 3, 1, 6, 2, ports115, ports1, attrs128, types112},
    {"ai.onnx", "RoiAlign", 22, 0, false, 3, 3, 1, 1, 3, 1, 6, 2, ports115, ports1, attrs128, types6},
    {"ai.onnx", "RotaryEmbedding", 23, 0, false, 3, 4, 1, 1, 4, 1, 3, 2, ports116, ports1, attrs129, types167},
    {"ai.onnx", "Round", 11, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Round", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "STFT", 17, 0, false, 2, 4, 1, 1, 4, 1, 1, 2, ports117, ports3, attrs130, types52},
    {"ai.onnx", "Scan", 8, 8, false, 2, 255, 1, 255, 2, 1, 3, 2, ports118, ports119, attrs131, types168},
    {"ai.onnx", "Scan", 9, 10, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types169},
    {"ai.onnx", "Scan", 11, 15, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types169},
    {"ai.onnx", "Scan", 16, 18, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types170},
    {"ai.onnx", "Scan", 19, 20, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types171},
    {"ai.onnx", "Scan", 21, 22, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types172},
    {"ai.onnx", "Scan", 23, 23, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types173},
    {"ai.onnx", "Scan", 24, 24, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types174},
    {"ai.onnx", "Scan", 25, 0, false, 1, 255, 1, 255, 1, 1, 6, 1, ports120, ports121, attrs132, types175},
    {"ai.onnx", "Scatter", 9, 10, false, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs61, types74},
    {"ai.onnx", "Scatter", 11, 0, true, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs61, types74},
    {"ai.onnx", "ScatterElements", 11, 12, false, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs61, types74},
    {"ai.onnx", "ScatterElements", 13, 15, false, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs61, types31},
    {"ai.onnx", "ScatterElements", 16, 17, false, 3, 3, 1, 1, 3, 1, 2, 2, ports122, ports3, attrs133, types31},
    {"ai.onnx", "ScatterElements", 18, 0, false, 3, 3, 1, 1, 3, 1, 2, 2, ports122, ports3, attrs133, types31},
    {"ai.onnx", "ScatterND", 11, 12, false, 3, 3, 1, 1, 3, 1, 0, 2, ports122, ports3, NULL, types70},
    {"ai.onnx", "ScatterND", 13, 15, false, 3, 3, 1, 1, 3, 1, 0, 2, ports122, ports3, NULL, types32},
    {"ai.onnx", "ScatterND", 16, 17, false, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs134, types32},
    {"ai.onnx", "ScatterND", 18, 0, false, 3, 3, 1, 1, 3, 1, 1, 2, ports122, ports3, attrs134, types32},
    {"ai.onnx", "Selu", 1, 5, false, 1, 1, 1, 1, 1, 1, 3, 1, ports0, ports1, attrs135, types0},
    {"ai.onnx", "Selu", 6, 21, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs136, types0},
    {"ai.onnx", "Selu", 22, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs136, types3},
    {"ai.onnx", "SequenceAt", 11, 0, false, 2, 2, 1, 1, 2, 1, 0, 3, ports123, ports124, NULL, types176},
    {"ai.onnx", "SequenceConstruct", 11, 0, false, 1, 255, 1, 1, 1, 1, 0, 2, ports32, ports125, NULL, types177},
    {"ai.onnx", "SequenceEmpty", 11, 0, false, 0, 0, 1, 1, 0, 1, 1, 1, NULL, ports3, attrs137, types178},
    {"ai.onnx", "SequenceErase", 11, 0, false, 1, 2, 1, 1, 2, 1, 0, 2, ports126, ports127, NULL, types179},
    {"ai.onnx", "SequenceInsert", 11, 0, false, 2, 3, 1, 1, 3, 1, 0, 3, ports128, ports125, NULL, types180},
    {"ai.onnx", "SequenceLength", 11, 0, false, 1, 1, 1, 1, 1, 1, 0, 2, ports34, ports129, NULL, types181},
    {"ai.onnx", "SequenceMap", 17, 0, false, 1, 255, 1, 255, 2, 1, 1, 2, ports130, ports131, attrs88, types182},
    {"ai.onnx", "Shape", 1, 12, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports132, NULL, types183},
    {"ai.onnx", "Shape", 13, 14, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports132, NULL, types184},
    {"ai.onnx", "Shape", 15, 18, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types184},
    {"ai.onnx", "Shape", 19, 20, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types185},
    {"ai.onnx", "Shape", 21, 22, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types186},
    {"ai.onnx", "Shape", 23, 23, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types187},
    {"ai.onnx", "Shape", 24, 24, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types188},
    {"ai.onnx", "Shape", 25, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports132, attrs138, types189},
    {"ai.onnx", "Shrink", 9, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs139, types1},
    {"ai.onnx", "Sigmoid", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Sigmoid", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Sigmoid", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Sign", 9, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types1},
    {"ai.onnx", "Sign", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types2},
    {"ai.onnx", "SimplifiedLayerNormalization", 1, 0, false, 2, 2, 1, 2, 2, 2, 3, 3, ports133, ports134, attrs84, types190},
    {"ai.onnx", "Sin", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Sin", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Sinh", 9, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Sinh", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Size", 1, 12, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types183},
    {"ai.onnx", "Size", 13, 18, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types184},
    {"ai.onnx", "Size", 19, 20, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types185},
    {"ai.onnx", "Size", 21, 22, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types186},
    {"ai.onnx", "Size", 23, 23, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types187},
    {"ai.onnx", "Size", 24, 24, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types188},
    {"ai.onnx", "Size", 25, 0, false, 1, 1, 1, 1, 1, 1, 0, 2, ports9, ports135, NULL, types189},
    {"ai.onnx", "Slice", 1, 9, false, 1, 1, 1, 1, 1, 1, 3, 1, ports9, ports3, attrs140, types35},
    {"ai.onnx", "Slice", 10, 10, false, 3, 5, 1, 1, 5, 1, 0, 2, ports136, ports3, NULL, types74},
    {"ai.onnx", "Slice", 11, 12, false, 3, 5, 1, 1, 5, 1, 0, 2, ports136, ports3, NULL, types74},
    {"ai.onnx", "Slice", 13, 0, false, 3, 5, 1, 1, 5, 1, 0, 2, ports136, ports3, NULL, types31},
    {"ai.onnx", "Softmax", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "Softmax", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs47, types0},
    {"ai.onnx", "Softmax", 13, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs74, types3},
    {"ai.onnx", "SoftmaxCrossEntropyLoss", 12, 12, false, 2, 3, 1, 2, 3, 2, 2, 2, ports137, ports138, attrs101, types117},
    {"ai.onnx", "SoftmaxCrossEntropyLoss", 13, 0, false, 2, 3, 1, 2, 3, 2, 2, 2, ports137, ports138, attrs101, types118},
    {"ai.onnx", "Softplus", 1, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Softplus", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Softsign", 1, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Softsign", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "SpaceToDepth", 1, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs45, types35},
    {"ai.onnx", "SpaceToDepth", 13, 27, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs45, types36},
    {"ai.onnx", "SpaceToDepth", 28, 0, false, 1, 1, 1, 1, 1, 1, 2, 1, ports2, ports3, attrs46, types36},
    {"ai.onnx", "Split", 1, 1, false, 1, 2, 1, 255, 2, 1, 2, 1, ports139, ports140, attrs141, types0},
    {"ai.onnx", "Split", 2, 10, false, 1, 1, 1, 255, 1, 1, 2, 1, ports2, ports141, attrs142, types35},
    {"ai.onnx", "Split", 11, 12, false, 1, 1, 1, 255, 1, 1, 2, 1, ports2, ports141, attrs142, types35},
    {"ai.onnx", "Split", 13, 17, false, 1, 2, 1, 255, 2, 1, 1, 2, ports142, ports141, attrs61, types32},
    {"ai.onnx", "Split", 18, 0, false, 1, 2, 1, 255, 2, 1, 2, 2, ports142, ports141, attrs143, types32},
    {"ai.onnx", "SplitToSequence", 11, 23, false, 1, 2, 1, 1, 2, 1, 2, 3, ports142, ports143, attrs4, types191},
    {"ai.onnx", "SplitToSequence", 24, 0, false, 1, 2, 1, 1, 2, 1, 2, 3, ports142, ports143, attrs4, types192},
    {"ai.onnx", "Sqrt", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs0, types0},
    {"ai.onnx", "Sqrt", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"ai.onnx", "Sqrt", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"ai.onnx", "Squeeze", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports144, attrs28, types35},
    {"ai.onnx", "Squeeze", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports144, attrs28, types35},
    {"ai.onnx", "Squeeze", 13, 20, false, 1, 2, 1, 1, 2, 1, 0, 2, ports108, ports144, NULL, types32},
    {"ai.onnx", "Squeeze", 21, 22, false, 1, 2, 1, 1, 2, 1, 0, 2, ports108, ports144, NULL, types160},
    {"ai.onnx", "Squeeze", 23, 23, false, 1, 2, 1, 1, 2, 1, 0, 2, ports108, ports144, NULL, types161},
    {"ai.onnx", "Squeeze", 24, 24, false, 1, 2, 1, 1, 2, 1, 0, 2, ports108, ports144, NULL, types162},
    {"ai.onnx", "Squeeze", 25, 0, false, 1, 2, 1, 1, 2, 1, 0, 2, ports108, ports144, NULL, types163},
    {"ai.onnx", "StringConcat", 20, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports21, ports22, NULL, types193},
    {"ai.onnx", "StringNormalizer", 10, 0, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs144, types194},
    {"ai.onnx", "StringSplit", 20, 0, false, 1, 1, 2, 2, 1, 2, 2, 3, ports0, ports145, attrs145, types195},
    {"ai.onnx", "Sub", 1, 5, false, 2, 2, 1, 1, 2, 1, 3, 1, ports4, ports5, attrs1, types0},
    {"ai.onnx", "Sub", 6, 6, false, 2, 2, 1, 1, 2, 1, 2, 1, ports4, ports5, attrs2, types4},
    {"ai.onnx", "Sub", 7, 12, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types4},
    {"ai.onnx", "Sub", 13, 13, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types5},
    {"ai.onnx", "Sub", 14, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types2},
    {"ai.onnx", "Sum", 1, 5, false, 1, 255, 1, 1, 1, 1, 1, 1, ports79, ports146, attrs0, types0},
    {"ai.onnx", "Sum", 6, 7, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports146, NULL, types0},
    {"ai.onnx", "Sum", 8, 12, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports146, NULL, types0},
    {"ai.onnx", "Sum", 13, 0, false, 1, 255, 1, 1, 1, 1, 0, 1, ports79, ports146, NULL, types3},
    {"ai.onnx", "SwiGLU", 28, 0, false, 2, 2, 1, 1, 2, 1, 1, 1, ports4, ports1, attrs27, types3},
    {"ai.onnx", "Swish", 24, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types3},
    {"ai.onnx", "Tan", 7, 21, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Tan", 22, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "Tanh", 1, 5, false, 1, 1, 1, 1, 1, 1, 1, 1, ports2, ports3, attrs0, types0},
    {"ai.onnx", "Tanh", 6, 12, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types0},
    {"ai.onnx", "Tanh", 13, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports2, ports3, NULL, types3},
    {"ai.onnx", "TensorScatter", 24, 0, false, 2, 3, 1, 1, 3, 1, 2, 2, ports147, ports148, attrs146, types162},
    {"ai.onnx", "TfIdfVectorizer", 9, 0, false, 1, 1, 1, 1, 1, 1, 9, 2, ports0, ports68, attrs147, types196},
    {"ai.onnx", "ThresholdedRelu", 10, 21, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types0},
    {"ai.onnx", "ThresholdedRelu", 22, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs27, types3},
    {"ai.onnx", "Tile", 1, 5, false, 3, 3, 1, 1, 3, 1, 0, 2, ports149, ports3, NULL, types197},
    {"ai.onnx", "Tile", 6, 12, false, 2, 2, 1, 1, 2, 1, 0, 2, ports150, ports3, NULL, types183},
    {"ai.onnx", "Tile", 13, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports150, ports3, NULL, types184},
    {"ai.onnx", "TopK", 1, 9, false, 1, 1, 2, 2, 1, 2, 2, 2, ports0, ports151, attrs148, types109},
    {"ai.onnx", "TopK", 10, 10, false, 2, 2, 2, 2, 2, 2, 1, 3, ports152, ports151, attrs74, types198},
    {"ai.onnx", "TopK", 11, 23, false, 2, 2, 2, 2, 2, 2, 3, 3, ports152, ports151, attrs149, types199},
    {"ai.onnx", "TopK", 24, 0, false, 2, 2, 2, 2, 2, 2, 3, 3, ports152, ports151, attrs149, types200},
    {"ai.onnx", "Transpose", 1, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types35},
    {"ai.onnx", "Transpose", 13, 20, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types36},
    {"ai.onnx", "Transpose", 21, 22, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types39},
    {"ai.onnx", "Transpose", 23, 23, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types40},
    {"ai.onnx", "Transpose", 24, 24, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types41},
    {"ai.onnx", "Transpose", 25, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports153, attrs150, types42},
    {"ai.onnx", "Trilu", 14, 0, false, 1, 2, 1, 1, 2, 1, 1, 2, ports154, ports3, attrs151, types32},
    {"ai.onnx", "Unique", 11, 27, false, 1, 1, 1, 4, 1, 4, 2, 2, ports0, ports155, attrs152, types70},
    {"ai.onnx", "Unique", 28, 0, false, 1, 1, 1, 4, 1, 4, 2, 2, ports0, ports155, attrs152, types32},
    {"ai.onnx", "Unsqueeze", 1, 10, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports156, attrs153, types35},
    {"ai.onnx", "Unsqueeze", 11, 12, false, 1, 1, 1, 1, 1, 1, 1, 1, ports9, ports156, attrs153, types35},
    {"ai.onnx", "Unsqueeze", 13, 20, false, 2, 2, 1, 1, 2, 1, 0, 2, ports157, ports156, NULL, types32},
    {"ai.onnx", "Unsqueeze", 21, 22, false, 2, 2, 1, 1, 2, 1, 0, 2, ports157, ports156, NULL, types160},
    {"ai.onnx", "Unsqueeze", 23, 23, false, 2, 2, 1, 1, 2, 1, 0, 2, ports157, ports156, NULL, types161},
    {"ai.onnx", "Unsqueeze", 24, 24, false, 2, 2, 1, 1, 2, 1, 0, 2, ports157, ports156, NULL, types162},
    {"ai.onnx", "Unsqueeze", 25, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports157, ports156, NULL, types163},
    {"ai.onnx", "Upsample", 1, 6, false, 1, 1, 1, 1, 1, 1, 3, 1, ports0, ports1, attrs154, types201},
    {"ai.onnx", "Upsample", 7, 8, false, 1, 1, 1, 1, 1, 1, 2, 1, ports0, ports1, attrs155, types35},
    {"ai.onnx", "Upsample", 9, 9, false, 2, 2, 1, 1, 2, 1, 1, 2, ports111, ports1, attrs123, types164},
    {"ai.onnx", "Upsample", 10, 0, true, 2, 2, 1, 1, 2, 1, 1, 2, ports111, ports1, attrs123, types164},
    {"ai.onnx", "Where", 9, 15, false, 3, 3, 1, 1, 3, 1, 0, 2, ports158, ports20, NULL, types202},
    {"ai.onnx", "Where", 16, 0, false, 3, 3, 1, 1, 3, 1, 0, 2, ports158, ports20, NULL, types203},
    {"ai.onnx", "Xor", 1, 6, false, 2, 2, 1, 1, 2, 1, 2, 2, ports4, ports8, attrs2, types7},
    {"ai.onnx", "Xor", 7, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports4, ports8, NULL, types7},
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports97, ports22, NULL, types204},
    {"ai.onnx.ml", "Binarizer", 1, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs156, types205},
    {"ai.onnx.ml", "CastMap", 1, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports0, ports68, attrs157, types206},
    {"ai.onnx.ml", "CategoryMapper", 1, 0, false, 1, 1, 1, 1, 1, 1, 4, 2, ports0, ports68, attrs158, types207},
    {"ai.onnx.ml", "DictVectorizer", 1, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports0, ports68, attrs159, types208},
    {"ai.onnx.ml", "FeatureVectorizer", 1, 0, false, 1, 255, 1, 1, 1, 1, 1, 2, ports159, ports68, attrs160, types209},
    {"ai.onnx.ml", "Imputer", 1, 0, false, 1, 1, 1, 1, 1, 1, 4, 1, ports0, ports1, attrs161, types205},
    {"ai.onnx.ml", "LabelEncoder", 1, 1, false, 1, 1, 1, 1, 1, 1, 3, 2, ports0, ports68, attrs162, types207},
    {"ai.onnx.ml", "LabelEncoder", 2, 3, false, 1, 1, 1, 1, 1, 1, 9, 2, ports0, ports68, attrs163, types210},
    {"ai.onnx.ml", "LabelEncoder", 4, 0, false, 1, 1, 1, 1, 1, 1, 12, 2, ports0, ports68, attrs164, types211},
    {"ai.onnx.ml", "LinearClassifier", 1, 0, false, 1, 1, 2, 2, 1, 2, 6, 3, ports0, ports145, attrs165, types212},
    {"ai.onnx.ml", "LinearRegressor", 1, 0, false, 1, 1, 1, 1, 1, 1, 4, 2, ports0, ports68, attrs166, types213},
    {"ai.onnx.ml", "Normalizer", 1, 0, false, 1, 1, 1, 1, 1, 1, 1, 2, ports0, ports68, attrs167, types213},
    {"ai.onnx.ml", "OneHotEncoder", 1, 0, false, 1, 1, 1, 1, 1, 1, 3, 2, ports0, ports68, attrs168, types214},
    {"ai.onnx.ml", "SVMClassifier", 1, 0, false, 1, 1, 2, 2, 1, 2, 11, 3, ports0, ports145, attrs169, types212},
    {"ai.onnx.ml", "SVMRegressor", 1, 0, false, 1, 1, 1, 1, 1, 1, 8, 2, ports0, ports68, attrs170, types213},
    {"ai.onnx.ml", "Scaler", 1, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports0, ports68, attrs171, types213},
    {"ai.onnx.ml", "TreeEnsemble", 5, 0, false, 1, 1, 1, 1, 1, 1, 16, 1, ports0, ports1, attrs172, types0},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 1, 2, false, 1, 1, 2, 2, 1, 2, 17, 3, ports0, ports145, attrs173, types212},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 3, 4, false, 1, 1, 2, 2, 1, 2, 21, 3, ports0, ports145, attrs174, types212},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 5, 0, true, 1, 1, 2, 2, 1, 2, 21, 3, ports0, ports145, attrs174, types212},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 1, 2, false, 1, 1, 1, 1, 1, 1, 17, 2, ports0, ports68, attrs175, types213},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 3, 4, false, 1, 1, 1, 1, 1, 1, 21, 2, ports0, ports68, attrs176, types213},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 5, 0, true, 1, 1, 1, 1, 1, 1, 21, 2, ports0, ports68, attrs176, types213},
    {"ai.onnx.ml", "ZipMap", 1, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports160, ports22, attrs177, types215},
    {"ai.onnx.preview", "FlexAttention", 1, 0, false, 3, 3, 1, 1, 3, 1, 4, 1, ports161, ports1, attrs178, types216},
    {"com.microsoft", "Attention", 1, 0, false, 2, 7, 1, 2, 7, 2, 8, 2, ports162, ports163, attrs179, types217},
    {"com.microsoft", "BiasAdd", 1, 0, false, 3, 3, 1, 1, 3, 1, 0, 1, ports164, ports1, NULL, types218},
    {"com.microsoft", "BiasDropout", 1, 0, false, 2, 5, 1, 2, 5, 2, 1, 3, ports165, ports49, attrs53, types219},
    {"com.microsoft", "BiasGelu", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports4, ports5, NULL, types3},
    {"com.microsoft", "BiasSplitGelu", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 1, ports166, ports1, NULL, types218},
    {"com.microsoft", "BifurcationDetector", 1, 0, false, 3, 4, 2, 2, 4, 2, 2, 1, ports167, ports168, attrs180, types220},
    {"com.microsoft", "CDist", 1, 0, false, 2, 2, 1, 1, 2, 1, 1, 1, ports4, ports5, attrs181, types221},
    {"com.microsoft", "ConvTransposeWithDynamicPads", 1, 0, false, 2, 4, 1, 1, 4, 1, 6, 2, ports169, ports1, attrs182, types222},
    {"com.microsoft", "CropAndResize", 1, 0, false, 4, 4, 1, 1, 4, 1, 2, 2, ports170, ports1, attrs183, types223},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 1, 0, false, 1, 11, 1, 4, 11, 4, 5, 3, ports171, ports172, attrs184, types224},
    {"com.microsoft", "DecoderMaskedSelfAttention", 1, 0, false, 7, 9, 2, 2, 9, 2, 5, 2, ports173, ports174, attrs185, types225},
    {"com.microsoft", "DequantizeLinear", 1, 0, false, 2, 3, 1, 1, 3, 1, 1, 2, ports44, ports45, attrs32, types226},
    {"com.microsoft", "DynamicQuantizeLSTM", 1, 0, false, 12, 12, 0, 3, 12, 3, 7, 3, ports175, ports70, attrs82, types227},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 0, false, 3, 5, 1, 1, 5, 1, 0, 2, ports176, ports1, NULL, types228},
    {"com.microsoft", "EmbedLayerNormalization", 1, 0, false, 7, 9, 1, 3, 9, 3, 2, 2, ports177, ports178, attrs186, types229},
    {"com.microsoft", "ExpandDims", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports179, ports1, NULL, types230},
    {"com.microsoft", "FastGelu", 1, 0, false, 1, 2, 1, 1, 2, 1, 0, 1, ports180, ports1, NULL, types3},
    {"com.microsoft", "FusedConv", 1, 0, false, 2, 4, 1, 1, 4, 1, 8, 1, ports181, ports1, attrs187, types0},
    {"com.microsoft", "FusedGemm", 1, 0, false, 2, 3, 1, 1, 3, 1, 8, 1, ports60, ports1, attrs188, types4},
    {"com.microsoft", "FusedMatMul", 1, 0, false, 2, 2, 1, 1, 2, 1, 5, 1, ports4, ports1, attrs189, types3},
    {"com.microsoft", "FusedMatMulActivation", 1, 0, false, 2, 2, 1, 1, 2, 1, 10, 1, ports4, ports1, attrs190, types3},
    {"com.microsoft", "GatherBlockQuantized", 1, 0, false, 3, 4, 1, 1, 4, 1, 4, 3, ports182, ports20, attrs191, types231},
    {"com.microsoft", "GatherND", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 2, ports58, ports3, NULL, types74},
    {"com.microsoft", "Gelu", 1, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types3},
    {"com.microsoft", "GemmFloat8", 1, 0, false, 2, 6, 1, 1, 6, 1, 6, 5, ports183, ports184, attrs192, types232},
    {"com.microsoft", "GridSample", 1, 0, false, 2, 2, 1, 1, 2, 1, 3, 2, ports185, ports68, attrs68, types77},
    {"com.microsoft", "GroupNorm", 1, 0, false, 3, 3, 1, 1, 3, 1, 4, 2, ports186, ports1, attrs193, types233},
    {"com.microsoft", "GroupQueryAttention", 1, 0, false, 7, 17, 1, 4, 17, 4, 17, 5, ports187, ports188, attrs194, types234},
    {"com.microsoft", "Inverse", 1, 0, false, 1, 1, 1, 1, 1, 1, 0, 1, ports0, ports1, NULL, types0},
    {"com.microsoft", "MatMulBnb4", 1, 0, false, 3, 3, 1, 1, 3, 1, 6, 2, ports189, ports1, attrs195, types235},
    {"com.microsoft", "MatMulInteger16", 1, 0, false, 2, 2, 1, 1, 2, 1, 0, 3, ports190, ports78, NULL, types236},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 0, false, 4, 7, 1, 1, 7, 1, 0, 3, ports191, ports78, NULL, types237},
    {"com.microsoft", "MatMulNBits", 1, 0, false, 3, 6, 1, 1, 6, 1, 6, 4, ports192, ports1, attrs196, types238},
    {"com.microsoft", "MoE", 1, 0, false, 5, 8, 1, 1, 8, 1, 9, 1, ports193, ports3, attrs197, types29},
    {"com.microsoft", "MultiHeadAttention", 1, 0, false, 1, 10, 1, 4, 10, 4, 4, 3, ports194, ports172, attrs198, types239},
    {"com.microsoft", "MurmurHash3", 1, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports0, ports68, attrs199, types240},
    {"com.microsoft", "NGramRepeatBlock", 1, 0, false, 2, 2, 1, 1, 2, 1, 1, 2, ports195, ports196, attrs200, types241},
    {"com.microsoft", "NhwcConv", 1, 0, false, 2, 3, 1, 1, 3, 1, 6, 1, ports36, ports1, attrs39, types0},
    {"com.microsoft", "NhwcFusedConv", 1, 0, false, 2, 4, 1, 1, 4, 1, 8, 1, ports181, ports1, attrs187, types218},
    {"com.microsoft", "NhwcMaxPool", 1, 0, false, 1, 1, 1, 1, 1, 1, 6, 1, ports50, ports40, attrs201, types242},
    {"com.microsoft", "PackedAttention", 1, 0, false, 5, 6, 1, 1, 6, 1, 3, 2, ports197, ports3, attrs202, types225},
    {"com.microsoft", "PackedMultiHeadAttention", 1, 0, false, 6, 7, 1, 1, 7, 1, 3, 2, ports198, ports3, attrs203, types225},
    {"com.microsoft", "Pad", 1, 0, false, 2, 3, 1, 1, 3, 1, 1, 2, ports199, ports3, attrs106, types222},
    {"com.microsoft", "QAttention", 1, 0, false, 5, 9, 1, 2, 9, 2, 6, 4, ports200, ports201, attrs204, types243},
    {"com.microsoft", "QEmbedLayerNormalization", 1, 0, false, 18, 18, 2, 2, 18, 2, 1, 3, ports202, ports203, attrs205, types244},
    {"com.microsoft", "QGemm", 1, 0, false, 6, 9, 1, 1, 9, 1, 3, 6, ports204, ports205, attrs206, types245},
    {"com.microsoft", "QLinearAdd", 1, 0, false, 7, 8, 1, 1, 8, 1, 0, 2, ports206, ports5, NULL, types246},
    {"com.microsoft", "QLinearAveragePool", 1, 0, false, 4, 5, 1, 1, 5, 1, 7, 2, ports207, ports1, attrs207, types246},
    {"com.microsoft", "QLinearConcat", 1, 0, false, 3, 255, 1, 1, 3, 1, 1, 3, ports208, ports1, attrs33, types247},
    {"com.microsoft", "QLinearConv", 1, 0, false, 8, 9, 1, 1, 9, 1, 7, 5, ports98, ports38, attrs208, types139},
    {"com.microsoft", "QLinearGlobalAveragePool", 1, 0, false, 5, 5, 1, 1, 5, 1, 1, 2, ports209, ports1, attrs209, types246},
    {"com.microsoft", "QLinearLeakyRelu", 1, 0, false, 4, 5, 1, 1, 5, 1, 1, 2, ports210, ports1, attrs86, types246},
    {"com.microsoft", "QLinearMul", 1, 0, false, 7, 8, 1, 1, 8, 1, 0, 2, ports206, ports5, NULL, types246},
    {"com.microsoft", "QLinearReduceMean", 1, 0, false, 4, 5, 1, 1, 5, 1, 2, 2, ports211, ports107, attrs210, types246},
    {"com.microsoft", "QLinearSigmoid", 1, 0, false, 4, 5, 1, 1, 5, 1, 0, 2, ports210, ports1, NULL, types246},
    {"com.microsoft", "QLinearSoftmax", 1, 0, false, 5, 5, 1, 1, 5, 1, 2, 2, ports212, ports1, attrs211, types246},
    {"com.microsoft", "QLinearWhere", 1, 0, false, 9, 9, 1, 1, 9, 1, 0, 3, ports213, ports214, NULL, types248},
    {"com.microsoft", "QuantizeLinear", 1, 0, false, 2, 3, 1, 1, 3, 1, 1, 2, ports103, ports45, attrs32, types249},
    {"com.microsoft", "QuickGelu", 1, 0, false, 1, 1, 1, 1, 1, 1, 1, 1, ports0, ports1, attrs212, types3},
    {"com.microsoft", "Range", 1, 0, false, 2, 3, 1, 1, 3, 1, 0, 1, ports215, ports1, NULL, types150},
    {"com.microsoft", "ReduceSumInteger", 1, 0, false, 1, 1, 1, 1, 1, 1, 2, 2, ports9, ports10, attrs210, types250},
    {"com.microsoft", "RelativePositionBias", 1, 0, false, 3, 3, 1, 1, 3, 1, 2, 2, ports216, ports3, attrs213, types251},
    {"com.microsoft", "RotaryEmbedding", 1, 0, false, 4, 4, 1, 1, 4, 1, 5, 2, ports217, ports3, attrs214, types167},
    {"com.microsoft", "SkipGroupNorm", 1, 0, false, 4, 5, 1, 2, 5, 2, 4, 2, ports218, ports219, attrs193, types233},
    {"com.microsoft", "SkipLayerNormalization", 1, 0, false, 3, 5, 1, 4, 5, 4, 1, 2, ports220, ports221, attrs205, types252},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, 0, false, 3, 4, 1, 4, 4, 4, 1, 2, ports222, ports221, attrs205, types252},
    {"com.microsoft", "SparseAttention", 1, 0, false, 9, 11, 3, 3, 11, 3, 6, 2, ports223, ports224, attrs215, types217},
    {"com.microsoft", "Tokenizer", 1, 0, false, 1, 1, 1, 1, 1, 1, 5, 1, ports0, ports1, attrs216, types193},
    {"com.microsoft", "TransposeMatMul", 1, 0, false, 2, 2, 1, 1, 2, 1, 3, 1, ports4, ports1, attrs206, types3},
    {"com.microsoft", "Trilu", 1, 0, false, 1, 2, 1, 1, 2, 1, 1, 2, ports225, ports1, attrs151, types253},
    {"com.microsoft", "UnfoldTensor", 1, 0, false, 1, 1, 1, 1, 1, 1, 3, 1, ports2, ports3, attrs217, types36},
    {"com.microsoft", "Unique", 1, 0, false, 1, 1, 3, 3, 1, 3, 0, 2, ports50, ports226, NULL, types70},
    {"com.microsoft", "WordConvEmbedding", 1, 0, false, 4, 4, 1, 1, 4, 1, 3, 2, ports227, ports68, attrs218, types254},
};

const size_t tn_op_schema_count = sizeof(tn_op_schemas) / sizeof(tn_op_schemas[0]);

int64_t tn_schema_newest(struct tn_str domain)
{
    if (tn_str_is(domain, "ai.onnx")) return 28;
    if (tn_str_is(domain, "ai.onnx.ml")) return 5;
    if (tn_str_is(domain, "com.microsoft")) return 1;
    return 0;
}
