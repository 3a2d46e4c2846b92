//! Written by `ndjit-bench llvm --write`: the primitives that ndjit computes kernels by, as loops in Rust. Cold paths, which
//! the arguments of the benchmark do not take, are left out.

#![allow(clippy::all, missing_docs, unused_variables)]
#![cfg_attr(rustfmt, rustfmt_skip)]

use ndjit::Complex;
use pulp::NullaryFnOnce;

#[allow(non_camel_case_types)]
pub struct axpy_float32<'a> {
    pub arg1: &'a [f32],
    pub arg0: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for axpy_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg1, arg0, out0, } = self;
            let r2 = 2 as f32;
        for ((out0, arg1), arg0) in out0.iter_mut().zip(arg1).zip(arg0) {
            let r0 = *arg1;
            let r1 = *arg0;
            let r3 = r0 * r2;
            let r4 = r1 + r3;
            *out0 = r4;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct axpy_float64<'a> {
    pub arg1: &'a [f64],
    pub arg0: &'a [f64],
    pub out0: &'a mut [f64],
}

impl NullaryFnOnce for axpy_float64<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg1, arg0, out0, } = self;
            let r2 = 2 as f64;
        for ((out0, arg1), arg0) in out0.iter_mut().zip(arg1).zip(arg0) {
            let r0 = *arg1;
            let r1 = *arg0;
            let r3 = r0 * r2;
            let r4 = r1 + r3;
            *out0 = r4;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct poly_float32<'a> {
    pub arg0: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for poly_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = 1.1 as f32;
            let r2 = -1.0 as f32;
            let r3 = 0.9 as f32;
            let r4 = -0.8 as f32;
            let r5 = 0.7 as f32;
            let r6 = -0.6 as f32;
            let r7 = 0.5 as f32;
            let r8 = -0.4 as f32;
            let r9 = 0.3 as f32;
            let r10 = -0.2 as f32;
            let r11 = 0.1 as f32;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r12 = r0 * r1;
            let r13 = r12 + r2;
            let r14 = r0 * r13;
            let r15 = r14 + r3;
            let r16 = r0 * r15;
            let r17 = r16 + r4;
            let r18 = r0 * r17;
            let r19 = r18 + r5;
            let r20 = r0 * r19;
            let r21 = r20 + r6;
            let r22 = r0 * r21;
            let r23 = r22 + r7;
            let r24 = r0 * r23;
            let r25 = r24 + r8;
            let r26 = r0 * r25;
            let r27 = r26 + r9;
            let r28 = r0 * r27;
            let r29 = r28 + r10;
            let r30 = r0 * r29;
            let r31 = r30 + r11;
            *out0 = r31;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct poly_float64<'a> {
    pub arg0: &'a [f64],
    pub out0: &'a mut [f64],
}

impl NullaryFnOnce for poly_float64<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = 1.1 as f64;
            let r2 = -1.0 as f64;
            let r3 = 0.9 as f64;
            let r4 = -0.8 as f64;
            let r5 = 0.7 as f64;
            let r6 = -0.6 as f64;
            let r7 = 0.5 as f64;
            let r8 = -0.4 as f64;
            let r9 = 0.3 as f64;
            let r10 = -0.2 as f64;
            let r11 = 0.1 as f64;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r12 = r0 * r1;
            let r13 = r12 + r2;
            let r14 = r0 * r13;
            let r15 = r14 + r3;
            let r16 = r0 * r15;
            let r17 = r16 + r4;
            let r18 = r0 * r17;
            let r19 = r18 + r5;
            let r20 = r0 * r19;
            let r21 = r20 + r6;
            let r22 = r0 * r21;
            let r23 = r22 + r7;
            let r24 = r0 * r23;
            let r25 = r24 + r8;
            let r26 = r0 * r25;
            let r27 = r26 + r9;
            let r28 = r0 * r27;
            let r29 = r28 + r10;
            let r30 = r0 * r29;
            let r31 = r30 + r11;
            *out0 = r31;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct bs_float32<'a> {
    pub arg2: &'a [f32],
    pub arg3: &'a [f32],
    pub arg0: &'a [f32],
    pub arg1: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for bs_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg2, arg3, arg0, arg1, out0, } = self;
            let r4 = 0.5 as f32;
            let r5 = 0.03 as f32;
            let r6 = -1.702 as f32;
            let r7 = 1 as f32;
            let r8 = 1.0 as f32;
            let r9 = -0.03 as f32;
            let r10 = -1.702 as f32;
            let r11 = 1 as f32;
            let r12 = 1.0 as f32;
            let r13 = 12582912.0_f32;
            let r14 = 0x800000_u32;
            let r15 = 0x7f7fffff_u32;
            let r16 = 0x3f3504f3_u32;
            let r17 = 0xcafb0d_u32;
            let r18 = 0x7fffff_u32;
            let r19 = 1.0_f32;
            let r20 = 23_u32;
            let r21 = 0x4b3fff80_u32;
            let r22 = 1.4286068e-6_f32;
            let r23 = 0.33333313_f32;
            let r24 = -0.2500001_f32;
            let r25 = 0.20002119_f32;
            let r26 = -0.16667996_f32;
            let r27 = 0.14219554_f32;
            let r28 = -0.1240559_f32;
            let r29 = 0.11888153_f32;
            let r30 = -0.11675631_f32;
            let r31 = 0.06746626_f32;
            let r32 = -0.5_f32;
            let r33 = 0.69314575_f32;
            let r34 = -104.5_f32;
            let r35 = 89.0_f32;
            let r36 = 1.442695_f32;
            let r37 = -0.69314575_f32;
            let r38 = -1.4286068e-6_f32;
            let r39 = 0.5_f32;
            let r40 = 0.16666667_f32;
            let r41 = 0.041666325_f32;
            let r42 = 0.00833322_f32;
            let r43 = 0.0013943209_f32;
            let r44 = 0.00019962185_f32;
            let r45 = 1_u32;
            let r46 = 0xb4c000fe_u32;
        for ((((out0, arg2), arg3), arg0), arg1) in out0.iter_mut().zip(arg2).zip(arg3).zip(arg0).zip(arg1) {
            let r0 = *arg2;
            let r1 = *arg3;
            let r2 = *arg0;
            let r3 = *arg1;
            let r47 = r0.sqrt();
            let r48 = r1 * r47;
            let r49 = r2 / r3;
            let r50 = r49.to_bits();
            let r51 = (r50 as i32) < (r14 as i32);
            let r52 = (r15 as i32) < (r50 as i32);
            let r53 = r51 | r52;
            let (r54, r55,) = (r49, r13,);
            let r56 = r54.to_bits();
            let r57 = r56.wrapping_add(r17);
            let r58 = r57 & r18;
            let r59 = r58.wrapping_add(r16);
            let r60 = f32::from_bits(r59);
            let r61 = if r20 < 32 { r57 >> r20 } else { 0 };
            let r62 = r61.wrapping_add(r21);
            let r63 = f32::from_bits(r62);
            let r64 = r63 - r55;
            let r65 = r60 - r19;
            let r66 = r64 * r22;
            let r67 = r31.mul_add(r65, r30);
            let r68 = r67.mul_add(r65, r29);
            let r69 = r68.mul_add(r65, r28);
            let r70 = r69.mul_add(r65, r27);
            let r71 = r70.mul_add(r65, r26);
            let r72 = r71.mul_add(r65, r25);
            let r73 = r72.mul_add(r65, r24);
            let r74 = r73.mul_add(r65, r23);
            let r75 = r65 * r65;
            let r76 = r75 * r65;
            let r77 = r76.mul_add(r74, r66);
            let r78 = r32 * r65;
            let r79 = r78.mul_add(r65, r77);
            let r80 = r65 + r79;
            let r81 = r64.mul_add(r33, r80);
            let r82 = r1 * r1;
            let r83 = r82 * r4;
            let r84 = r83 + r5;
            let r85 = r0 * r84;
            let r86 = r81 + r85;
            let r87 = r86 / r48;
            let r88 = r87 - r48;
            let r89 = r87 * r6;
            let r90 = r35 < r89;
            let r91 = if r90 { r35 } else { r89 };
            let r92 = r91 < r34;
            let r93 = if r92 { r34 } else { r91 };
            let r94 = r93.mul_add(r36, r13);
            let r95 = r94 - r13;
            let r96 = r95.mul_add(r37, r93);
            let r97 = r95.mul_add(r38, r96);
            let r98 = r94.to_bits();
            let r99 = r44.mul_add(r97, r43);
            let r100 = r99.mul_add(r97, r42);
            let r101 = r100.mul_add(r97, r41);
            let r102 = r101.mul_add(r97, r40);
            let r103 = r102.mul_add(r97, r39);
            let r104 = r97 * r97;
            let r105 = r104.mul_add(r103, r97);
            let r106 = r105 + r19;
            let r107 = r98.wrapping_add(r46);
            let r108 = if r45 < 32 { r107 >> r45 } else { 0 };
            let r109 = r107.wrapping_sub(r108);
            let r110 = if r20 < 32 { r108 << r20 } else { 0 };
            let r111 = f32::from_bits(r110);
            let r112 = if r20 < 32 { r109 << r20 } else { 0 };
            let r113 = f32::from_bits(r112);
            let r114 = r106 * r111;
            let r115 = r114 * r113;
            let r116 = r115 + r7;
            let r117 = r8 / r116;
            let r118 = r2 * r117;
            let r119 = r0 * r9;
            let r120 = r35 < r119;
            let r121 = if r120 { r35 } else { r119 };
            let r122 = r121 < r34;
            let r123 = if r122 { r34 } else { r121 };
            let r124 = r123.mul_add(r36, r13);
            let r125 = r124 - r13;
            let r126 = r125.mul_add(r37, r123);
            let r127 = r125.mul_add(r38, r126);
            let r128 = r124.to_bits();
            let r129 = r44.mul_add(r127, r43);
            let r130 = r129.mul_add(r127, r42);
            let r131 = r130.mul_add(r127, r41);
            let r132 = r131.mul_add(r127, r40);
            let r133 = r132.mul_add(r127, r39);
            let r134 = r127 * r127;
            let r135 = r134.mul_add(r133, r127);
            let r136 = r135 + r19;
            let r137 = r128.wrapping_add(r46);
            let r138 = if r45 < 32 { r137 >> r45 } else { 0 };
            let r139 = r137.wrapping_sub(r138);
            let r140 = if r20 < 32 { r138 << r20 } else { 0 };
            let r141 = f32::from_bits(r140);
            let r142 = if r20 < 32 { r139 << r20 } else { 0 };
            let r143 = f32::from_bits(r142);
            let r144 = r136 * r141;
            let r145 = r144 * r143;
            let r146 = r3 * r145;
            let r147 = r88 * r10;
            let r148 = r35 < r147;
            let r149 = if r148 { r35 } else { r147 };
            let r150 = r149 < r34;
            let r151 = if r150 { r34 } else { r149 };
            let r152 = r151.mul_add(r36, r13);
            let r153 = r152 - r13;
            let r154 = r153.mul_add(r37, r151);
            let r155 = r153.mul_add(r38, r154);
            let r156 = r152.to_bits();
            let r157 = r44.mul_add(r155, r43);
            let r158 = r157.mul_add(r155, r42);
            let r159 = r158.mul_add(r155, r41);
            let r160 = r159.mul_add(r155, r40);
            let r161 = r160.mul_add(r155, r39);
            let r162 = r155 * r155;
            let r163 = r162.mul_add(r161, r155);
            let r164 = r163 + r19;
            let r165 = r156.wrapping_add(r46);
            let r166 = if r45 < 32 { r165 >> r45 } else { 0 };
            let r167 = r165.wrapping_sub(r166);
            let r168 = if r20 < 32 { r166 << r20 } else { 0 };
            let r169 = f32::from_bits(r168);
            let r170 = if r20 < 32 { r167 << r20 } else { 0 };
            let r171 = f32::from_bits(r170);
            let r172 = r164 * r169;
            let r173 = r172 * r171;
            let r174 = r173 + r11;
            let r175 = r12 / r174;
            let r176 = r146 * r175;
            let r177 = r118 - r176;
            *out0 = r177;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct gelu_float32<'a> {
    pub arg0: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for gelu_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = 0.5 as f32;
            let r2 = 0.044715 as f32;
            let r3 = 0.79788456 as f32;
            let r4 = 1 as f32;
            let r5 = -0.3333331_f32;
            let r6 = 0.13332298_f32;
            let r7 = -0.053821117_f32;
            let r8 = 0.020940121_f32;
            let r9 = -0.006085108_f32;
            let r10 = 10.0_f32;
            let r11 = 12582912.0_f32;
            let r12 = 2.88539_f32;
            let r13 = -0.34657288_f32;
            let r14 = -7.143034e-7_f32;
            let r15 = 1.0_f32;
            let r16 = 0.6666607_f32;
            let r17 = 0.33332965_f32;
            let r18 = 0.13390218_f32;
            let r19 = 0.04464173_f32;
            let r20 = 0.5_f32;
            let r21 = -2.0_f32;
            let r22 = 0xb4c00080_u32;
            let r23 = 23_u32;
            let r24 = 0.575_f32;
            let r25 = 0x80000000_u32;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r26 = r0 * r1;
            let r27 = r0 * r0;
            let r28 = r0 * r27;
            let r29 = r28 * r2;
            let r30 = r0 + r29;
            let r31 = r30 * r3;
            let r32 = r31.abs();
            let r33 = r31 * r31;
            let r34 = r33 * r32;
            let r35 = r9.mul_add(r33, r8);
            let r36 = r35.mul_add(r33, r7);
            let r37 = r36.mul_add(r33, r6);
            let r38 = r37.mul_add(r33, r5);
            let r39 = r34.mul_add(r38, r32);
            let r40 = r10 < r32;
            let r41 = if r40 { r10 } else { r32 };
            let r42 = r41.mul_add(r12, r11);
            let r43 = r42 - r11;
            let r44 = r43.mul_add(r13, r41);
            let r45 = r43.mul_add(r14, r44);
            let r46 = r42.to_bits();
            let r47 = r19.mul_add(r45, r18);
            let r48 = r47.mul_add(r45, r17);
            let r49 = r48.mul_add(r45, r16);
            let r50 = r49.mul_add(r45, r15);
            let r51 = r45 * r45;
            let r52 = r51.mul_add(r50, r45);
            let r53 = r46.wrapping_add(r22);
            let r54 = if r23 < 32 { r53 << r23 } else { 0 };
            let r55 = f32::from_bits(r54);
            let r56 = r55.mul_add(r20, r15);
            let r57 = r55.mul_add(r52, r56);
            let r58 = r56 - r57;
            let r59 = r55.mul_add(r52, r58);
            let r60 = r15 / r57;
            let r61 = -r60;
            let r62 = r61.mul_add(r57, r15);
            let r63 = r61.mul_add(r59, r62);
            let r64 = r63.mul_add(r60, r60);
            let r65 = r64.mul_add(r21, r15);
            let r66 = r32 < r24;
            let r67 = if r66 { r39 } else { r65 };
            let r68 = r67.to_bits();
            let r69 = r31.to_bits();
            let r70 = r69 & r25;
            let r71 = r68 | r70;
            let r72 = f32::from_bits(r71);
            let r73 = r72 + r4;
            let r74 = r26 * r73;
            *out0 = r74;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct gelu_float64<'a> {
    pub arg0: &'a [f64],
    pub out0: &'a mut [f64],
}

impl NullaryFnOnce for gelu_float64<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = 0.5 as f64;
            let r2 = 0.044715 as f64;
            let r3 = 0.79788456 as f64;
            let r4 = 1 as f64;
            let r5 = -0.3333333333333325_f64;
            let r6 = 0.13333333333317993_f64;
            let r7 = -0.05396825395885441_f64;
            let r8 = 0.021869488248305882_f64;
            let r9 = -0.008863230393873578_f64;
            let r10 = 0.003592070187996598_f64;
            let r11 = -0.0014554050846375946_f64;
            let r12 = 0.0005878893409426812_f64;
            let r13 = -0.0002319981508153955_f64;
            let r14 = 8.137455565075459e-5_f64;
            let r15 = -1.832069172597528e-5_f64;
            let r16 = 20.0_f64;
            let r17 = 6755399441055744.0_f64;
            let r18 = 2.8853900817779268_f64;
            let r19 = -0.3465735901845619_f64;
            let r20 = -9.541074646352939e-11_f64;
            let r21 = 1.0000000000000024_f64;
            let r22 = 0.666666666666668_f64;
            let r23 = 0.3333333333321239_f64;
            let r24 = 0.13333333333291508_f64;
            let r25 = 0.044444444630389865_f64;
            let r26 = 0.012698412747154206_f64;
            let r27 = 0.0031745907151915624_f64;
            let r28 = 0.0007054647360232035_f64;
            let r29 = 0.0001414721175873819_f64;
            let r30 = 2.572070737069188e-5_f64;
            let r31 = 1.0_f64;
            let r32 = 0.5_f64;
            let r33 = -2.0_f64;
            let r34 = 0xbcc8000000000400_u64;
            let r35 = 52_u64;
            let r36 = 0.575_f64;
            let r37 = 0x8000000000000000_u64;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r38 = r0 * r1;
            let r39 = r0 * r0;
            let r40 = r0 * r39;
            let r41 = r40 * r2;
            let r42 = r0 + r41;
            let r43 = r42 * r3;
            let r44 = r43.abs();
            let r45 = r43 * r43;
            let r46 = r45 * r44;
            let r47 = r15.mul_add(r45, r14);
            let r48 = r47.mul_add(r45, r13);
            let r49 = r48.mul_add(r45, r12);
            let r50 = r49.mul_add(r45, r11);
            let r51 = r50.mul_add(r45, r10);
            let r52 = r51.mul_add(r45, r9);
            let r53 = r52.mul_add(r45, r8);
            let r54 = r53.mul_add(r45, r7);
            let r55 = r54.mul_add(r45, r6);
            let r56 = r55.mul_add(r45, r5);
            let r57 = r46.mul_add(r56, r44);
            let r58 = r16 < r44;
            let r59 = if r58 { r16 } else { r44 };
            let r60 = r59.mul_add(r18, r17);
            let r61 = r60 - r17;
            let r62 = r61.mul_add(r19, r59);
            let r63 = r61.mul_add(r20, r62);
            let r64 = r60.to_bits();
            let r65 = r30.mul_add(r63, r29);
            let r66 = r65.mul_add(r63, r28);
            let r67 = r66.mul_add(r63, r27);
            let r68 = r67.mul_add(r63, r26);
            let r69 = r68.mul_add(r63, r25);
            let r70 = r69.mul_add(r63, r24);
            let r71 = r70.mul_add(r63, r23);
            let r72 = r71.mul_add(r63, r22);
            let r73 = r72.mul_add(r63, r21);
            let r74 = r63 * r63;
            let r75 = r74.mul_add(r73, r63);
            let r76 = r64.wrapping_add(r34);
            let r77 = if r35 < 64 { r76 << r35 } else { 0 };
            let r78 = f64::from_bits(r77);
            let r79 = r78.mul_add(r32, r31);
            let r80 = r78.mul_add(r75, r79);
            let r81 = r79 - r80;
            let r82 = r78.mul_add(r75, r81);
            let r83 = r31 / r80;
            let r84 = -r83;
            let r85 = r84.mul_add(r80, r31);
            let r86 = r84.mul_add(r82, r85);
            let r87 = r86.mul_add(r83, r83);
            let r88 = r87.mul_add(r33, r31);
            let r89 = r44 < r36;
            let r90 = if r89 { r57 } else { r88 };
            let r91 = r90.to_bits();
            let r92 = r43.to_bits();
            let r93 = r92 & r37;
            let r94 = r91 | r93;
            let r95 = f64::from_bits(r94);
            let r96 = r95 + r4;
            let r97 = r38 * r96;
            *out0 = r97;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct sincos_float32<'a> {
    pub arg0: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for sincos_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = -1.5707964_f32;
            let r2 = 4.371139e-8_f32;
            let r3 = 1.7151245e-15_f32;
            let r4 = 12582912.0_f32;
            let r5 = 0.63661975_f32;
            let r6 = 131072.0_f32;
            let r7 = f32::INFINITY;
            let r8 = -0.16666667_f32;
            let r9 = 0.008333329_f32;
            let r10 = -0.00019839311_f32;
            let r11 = 2.718114e-6_f32;
            let r12 = 0.5_f32;
            let r13 = 0.041666646_f32;
            let r14 = -0.0013887315_f32;
            let r15 = 2.4433084e-5_f32;
            let r16 = 1.0_f32;
            let r17 = 1_u32;
            let r18 = 2_u32;
            let r19 = 0_u32;
            let r20 = 30_u32;
            let r21 = 0x80000000_u32;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r22 = r0.abs();
            let r23 = r22.mul_add(r5, r4);
            let r24 = r23 - r4;
            let r25 = r24.mul_add(r1, r22);
            let r26 = r24 * r2;
            let r27 = -r26;
            let r28 = r24.mul_add(r2, r27);
            let r29 = r25 + r26;
            let r30 = r29 - r25;
            let r31 = r29 - r30;
            let r32 = r26 - r30;
            let r33 = r25 - r31;
            let r34 = r33 + r32;
            let r35 = r34 + r28;
            let r36 = r24.mul_add(r3, r35);
            let r37 = r23.to_bits();
            let r38 = r6 <= r22;
            let r39 = r22 < r7;
            let r40 = r38 & r39;
            let (r41, r42, r43,) = (r29, r36, r37,);
            let r44 = r41 * r41;
            let r45 = r11.mul_add(r44, r10);
            let r46 = r45.mul_add(r44, r9);
            let r47 = r46.mul_add(r44, r8);
            let r48 = r44 * r41;
            let r49 = r12 * r44;
            let r50 = -r42;
            let r51 = r50.mul_add(r49, r42);
            let r52 = r48.mul_add(r47, r51);
            let r53 = r41 + r52;
            let r54 = r15.mul_add(r44, r14);
            let r55 = r54.mul_add(r44, r13);
            let r56 = r16 - r49;
            let r57 = r16 - r56;
            let r58 = r57 - r49;
            let r59 = r44 * r44;
            let r60 = r59.mul_add(r55, r58);
            let r61 = -r41;
            let r62 = r61.mul_add(r42, r60);
            let r63 = r56 + r62;
            let r64 = r43 & r17;
            let r65 = r64 == r19;
            let r66 = if r65 { r53 } else { r63 };
            let r67 = r43 & r18;
            let r68 = if r20 < 32 { r67 << r20 } else { 0 };
            let r69 = r66.to_bits();
            let r70 = r69 ^ r68;
            let r71 = f32::from_bits(r70);
            let r72 = r0.to_bits();
            let r73 = r72 & r21;
            let r74 = r71.to_bits();
            let r75 = r74 ^ r73;
            let r76 = f32::from_bits(r75);
            let r77 = r76 * r76;
            let r78 = r43.wrapping_add(r17);
            let r79 = r78 & r17;
            let r80 = r79 == r19;
            let r81 = if r80 { r53 } else { r63 };
            let r82 = r78 & r18;
            let r83 = if r20 < 32 { r82 << r20 } else { 0 };
            let r84 = r81.to_bits();
            let r85 = r84 ^ r83;
            let r86 = f32::from_bits(r85);
            let r87 = r86 * r86;
            let r88 = r77 + r87;
            *out0 = r88;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct hypot3_float32<'a> {
    pub arg0: &'a [f32],
    pub arg1: &'a [f32],
    pub arg2: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for hypot3_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, arg1, arg2, out0, } = self;
        for (((out0, arg0), arg1), arg2) in out0.iter_mut().zip(arg0).zip(arg1).zip(arg2) {
            let r0 = *arg0;
            let r1 = *arg1;
            let r2 = *arg2;
            let r3 = r0 * r0;
            let r4 = r1 * r1;
            let r5 = r3 + r4;
            let r6 = r2 * r2;
            let r7 = r5 + r6;
            let r8 = r7.sqrt();
            *out0 = r8;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct elu_float32<'a> {
    pub arg0: &'a [f32],
    pub out0: &'a mut [f32],
}

impl NullaryFnOnce for elu_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
            let r1 = 0 as f32;
            let r2 = -20.0_f32;
            let r3 = 89.0_f32;
            let r4 = 12582912.0_f32;
            let r5 = 1.442695_f32;
            let r6 = -0.69314575_f32;
            let r7 = -1.4286068e-6_f32;
            let r8 = 0.5_f32;
            let r9 = 0.16666667_f32;
            let r10 = 0.041666325_f32;
            let r11 = 0.00833322_f32;
            let r12 = 0.0013943209_f32;
            let r13 = 0.00019962185_f32;
            let r14 = 0xb4c0007e_u32;
            let r15 = 23_u32;
            let r16 = -0.5_f32;
            let r17 = 2.9802322e-8_f32;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = *arg0;
            let r18 = r1 < r0;
            let r19 = r3 < r0;
            let r20 = if r19 { r3 } else { r0 };
            let r21 = r20 < r2;
            let r22 = if r21 { r2 } else { r20 };
            let r23 = r22.mul_add(r5, r4);
            let r24 = r23 - r4;
            let r25 = r24.mul_add(r6, r22);
            let r26 = r24.mul_add(r7, r25);
            let r27 = r25 - r26;
            let r28 = r24.mul_add(r7, r27);
            let r29 = r23.to_bits();
            let r30 = r13.mul_add(r26, r12);
            let r31 = r30.mul_add(r26, r11);
            let r32 = r31.mul_add(r26, r10);
            let r33 = r32.mul_add(r26, r9);
            let r34 = r33.mul_add(r26, r8);
            let r35 = r26 * r26;
            let r36 = r35.mul_add(r34, r28);
            let r37 = r29.wrapping_add(r14);
            let r38 = if r15 < 32 { r37 << r15 } else { 0 };
            let r39 = f32::from_bits(r38);
            let r40 = r39 + r16;
            let r41 = r40 - r39;
            let r42 = r16 - r41;
            let r43 = r39 * r26;
            let r44 = r40 + r43;
            let r45 = r44 - r40;
            let r46 = r43 - r45;
            let r47 = r46 + r42;
            let r48 = r39.mul_add(r36, r47);
            let r49 = r44 + r48;
            let r50 = r49 + r49;
            let r51 = r0.abs();
            let r52 = r51 < r17;
            let r53 = if r52 { r0 } else { r50 };
            let r54 = if r18 { r0 } else { r53 };
            *out0 = r54;
        }
    }
}

#[allow(non_camel_case_types)]
pub struct mandel_float32<'a> {
    pub arg0: &'a [Complex<f32>],
    pub out0: &'a mut [Complex<f32>],
}

impl NullaryFnOnce for mandel_float32<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { arg0, out0, } = self;
        for (out0, arg0) in out0.iter_mut().zip(arg0) {
            let r0 = arg0.re;
            let r1 = arg0.im;
            let r2 = r0 * r0;
            let r3 = r1 * r1;
            let r4 = r0 * r1;
            let r5 = r1 * r0;
            let r6 = r2 - r3;
            let r7 = r4 + r5;
            let r8 = r0 + r6;
            let r9 = r1 + r7;
            let r10 = r8 * r8;
            let r11 = r9 * r9;
            let r12 = r8 * r9;
            let r13 = r9 * r8;
            let r14 = r10 - r11;
            let r15 = r12 + r13;
            let r16 = r0 + r14;
            let r17 = r1 + r15;
            let r18 = r16 * r16;
            let r19 = r17 * r17;
            let r20 = r16 * r17;
            let r21 = r17 * r16;
            let r22 = r18 - r19;
            let r23 = r20 + r21;
            let r24 = r0 + r22;
            let r25 = r1 + r23;
            let r26 = r24 * r24;
            let r27 = r25 * r25;
            let r28 = r24 * r25;
            let r29 = r25 * r24;
            let r30 = r26 - r27;
            let r31 = r28 + r29;
            let r32 = r0 + r30;
            let r33 = r1 + r31;
            let r34 = r32 * r32;
            let r35 = r33 * r33;
            let r36 = r32 * r33;
            let r37 = r33 * r32;
            let r38 = r34 - r35;
            let r39 = r36 + r37;
            let r40 = r0 + r38;
            let r41 = r1 + r39;
            let r42 = r40 * r40;
            let r43 = r41 * r41;
            let r44 = r40 * r41;
            let r45 = r41 * r40;
            let r46 = r42 - r43;
            let r47 = r44 + r45;
            let r48 = r0 + r46;
            let r49 = r1 + r47;
            let r50 = r48 * r48;
            let r51 = r49 * r49;
            let r52 = r48 * r49;
            let r53 = r49 * r48;
            let r54 = r50 - r51;
            let r55 = r52 + r53;
            let r56 = r0 + r54;
            let r57 = r1 + r55;
            let r58 = r56 * r56;
            let r59 = r57 * r57;
            let r60 = r56 * r57;
            let r61 = r57 * r56;
            let r62 = r58 - r59;
            let r63 = r60 + r61;
            let r64 = r0 + r62;
            let r65 = r1 + r63;
            let r66 = r64 * r64;
            let r67 = r65 * r65;
            let r68 = r64 * r65;
            let r69 = r65 * r64;
            let r70 = r66 - r67;
            let r71 = r68 + r69;
            let r72 = r0 + r70;
            let r73 = r1 + r71;
            let r74 = r72 * r72;
            let r75 = r73 * r73;
            let r76 = r72 * r73;
            let r77 = r73 * r72;
            let r78 = r74 - r75;
            let r79 = r76 + r77;
            let r80 = r0 + r78;
            let r81 = r1 + r79;
            let r82 = r80 * r80;
            let r83 = r81 * r81;
            let r84 = r80 * r81;
            let r85 = r81 * r80;
            let r86 = r82 - r83;
            let r87 = r84 + r85;
            let r88 = r0 + r86;
            let r89 = r1 + r87;
            let r90 = r88 * r88;
            let r91 = r89 * r89;
            let r92 = r88 * r89;
            let r93 = r89 * r88;
            let r94 = r90 - r91;
            let r95 = r92 + r93;
            let r96 = r0 + r94;
            let r97 = r1 + r95;
            let r98 = r96 * r96;
            let r99 = r97 * r97;
            let r100 = r96 * r97;
            let r101 = r97 * r96;
            let r102 = r98 - r99;
            let r103 = r100 + r101;
            let r104 = r0 + r102;
            let r105 = r1 + r103;
            let r106 = r104 * r104;
            let r107 = r105 * r105;
            let r108 = r104 * r105;
            let r109 = r105 * r104;
            let r110 = r106 - r107;
            let r111 = r108 + r109;
            let r112 = r0 + r110;
            let r113 = r1 + r111;
            let r114 = r112 * r112;
            let r115 = r113 * r113;
            let r116 = r112 * r113;
            let r117 = r113 * r112;
            let r118 = r114 - r115;
            let r119 = r116 + r117;
            let r120 = r0 + r118;
            let r121 = r1 + r119;
            let r122 = r120 * r120;
            let r123 = r121 * r121;
            let r124 = r120 * r121;
            let r125 = r121 * r120;
            let r126 = r122 - r123;
            let r127 = r124 + r125;
            let r128 = r0 + r126;
            let r129 = r1 + r127;
            let r130 = r128 * r128;
            let r131 = r129 * r129;
            let r132 = r128 * r129;
            let r133 = r129 * r128;
            let r134 = r130 - r131;
            let r135 = r132 + r133;
            let r136 = r0 + r134;
            let r137 = r1 + r135;
            let r138 = r136 * r136;
            let r139 = r137 * r137;
            let r140 = r136 * r137;
            let r141 = r137 * r136;
            let r142 = r138 - r139;
            let r143 = r140 + r141;
            let r144 = r0 + r142;
            let r145 = r1 + r143;
            let r146 = r144 * r144;
            let r147 = r145 * r145;
            let r148 = r144 * r145;
            let r149 = r145 * r144;
            let r150 = r146 - r147;
            let r151 = r148 + r149;
            let r152 = r0 + r150;
            let r153 = r1 + r151;
            let r154 = r152 * r152;
            let r155 = r153 * r153;
            let r156 = r152 * r153;
            let r157 = r153 * r152;
            let r158 = r154 - r155;
            let r159 = r156 + r157;
            let r160 = r0 + r158;
            let r161 = r1 + r159;
            out0.re = r160;
            out0.im = r161;
        }
    }
}
