//! The op table: one row per elementwise op, with all its properties. The enum, names, the parser, the user's functions and methods,
//! coverage tests and the documentation derive from it.

/// Calls `$callback!` with all rows. A row is
///
/// `Variant name(parameter names) operands DOMAIN result accuracy [laws] "documentation" (example operands) "example result" [since n];`
///
/// - *operands*: the promotion of the operands ([`TypeRule`](crate::op::TypeRule));
/// - *DOMAIN*: the dtypes it computes in ([`DTypeSet`](crate::DTypeSet) constants, joined by `|`);
/// - *result*: the result dtype from the computing one ([`ResultRule`](crate::op::ResultRule));
/// - *accuracy*: `Exact` for correctly rounded, `Ulp(n)` for a maximum error of `n` units in the last place;
/// - *example*: operand arrays, and the printed result;
/// - *since*: the [opset](crate::opset) that introduced it, if that is not the first;
/// - *laws*: `commutative`, `idempotent`, `involution`: the laws that rewrites may use. They hold bit for bit, also for floats.
#[macro_export]
macro_rules! op_table {
    ($callback:path) => {
        $callback! {
            Add add(x y) Join ALL Same Exact [commutative]
                "`x + y`. Integers wrap, bool is logical or, floats round to nearest even."
                ("[1.0f32, 2.5]", "[0.5f32, -1.0]") "[1.5 1.5]";
            Subtract subtract(x y) Join NUMERIC Same Exact []
                "`x - y`. Integers wrap, floats round to nearest even."
                ("[1.0f32, 2.5]", "[0.5f32, -1.0]") "[0.5 3.5]";
            Multiply multiply(x y) Join ALL Same Exact [commutative]
                "`x * y`. Integers wrap, bool is logical and; complex products are computed as (ac - bd) + (ad + bc)i."
                ("[2, 3]", "[4, -5]") "[  8 -15]";
            MultiplyNoNan multiply_no_nan(x y) Inexact FLOAT|COMPLEX Same Exact [commutative]
                "`x * y`, but 0 where either is 0, of infinities and NaN too: the product by which derivatives are scaled. Complex numbers are 0 where both parts are."
                ("[0.0f32, 2.0]", "[f32::INFINITY, 1.5]") "[0. 3.]";
            Divide divide(x y) TrueDivide FLOAT|COMPLEX Same Exact []
                "True division `x / y`, also of integers. Floats: `x / 0` is infinite, `0 / 0` NaN. Complex quotients are scaled so that intermediate results neither overflow nor underflow needlessly."
                ("[1, 2, -1]", "[2, 4, 0]") "[ 0.5  0.5 -inf]";
            FloorDivide floor_divide(x y) Number REAL Same Ulp(1) []
                "The largest integer not above `x / y`. Integers: `x // 0 = 0`, `MIN // -1 = MIN`. Floats: exact where the quotient has no more bits than a mantissa, else the nearest float to `x / y`; `x // 0` is infinite or NaN, `inf // y` NaN as in NumPy, but infinite under the policy `array_api`, where `x // inf` is a zero."
                ("[7, -7, 7]", "[2, 2, 0]") "[ 3 -4  0]";
            Remainder remainder(x y) Number REAL Same Exact []
                "`x % y` with the sign of `y`, as Python's. Integers: `x % 0 = 0`. Floats: rounded once, zeros have the sign of `y`; NaN for `y = 0` or infinite `x`."
                ("[7, -7, 7]", "[3, 3, -3]") "[ 1  2 -2]";
            Fmod fmod(x y) Number REAL Same Exact []
                "The remainder of `x / y` truncated, C's `fmod`: the sign of `x`, also of zeros. Integers: `x fmod 0 = 0`. Floats: exact; NaN for `y = 0` or infinite `x`."
                ("[7, -7, 7]", "[3, 3, -3]") "[ 1 -1  1]";
            Negative negative(x) Join NUMERIC Same Exact [involution]
                "`-x`. Integers wrap; floats flip the sign, also of zero and NaN."
                ("[1.5f32, -2.0]") "[-1.5  2. ]";
            Abs abs(x) Join ALL Real Exact [idempotent]
                "Absolute value. `MIN` of a signed integer gives itself. Of a complex number its modulus as a float, without needless overflow (at most 1 ULP)."
                ("[-1.5f32, 2.0]") "[1.5 2. ]";
            Sign sign(x) Join NUMERIC Same Exact []
                "-1, 0 or 1 with the sign of `x`; both zeros give +0, NaN gives NaN. Of a complex number `x / |x|`, 0 at 0."
                ("[-1.5f32, 0.0, 3.0]") "[-1.  0.  1.]";
            Square square(x) Number NUMERIC Same Exact []
                "`x * x`. Integers wrap."
                ("[1.5f32, -3.0]") "[2.25 9.  ]";
            Sqrt sqrt(x) Inexact FLOAT|COMPLEX Same Exact []
                "Square root; NaN for negative reals, -0 for -0. Of a complex number the root with non-negative real part, branch cut along the negative real axis (at most 2 ULP in each part)."
                ("[4.0f32, 2.0, -1.0]") "[2.        1.4142135       nan]";
            Reciprocal reciprocal(x) Inexact FLOAT|COMPLEX Same Exact []
                "`1 / x`; at zeros an infinity of their sign."
                ("[4.0f32, 0.0]") "[0.25  inf]";
            MulAdd mul_add(x y z) Join NUMERIC Same Exact []
                "`x * y + z`: floats are rounded once (IEEE fusedMultiplyAdd); integers wrap; complex as (ac - bd + e) + (ad + bc + f)i, fused."
                ("[2.0f32, 3.0]", "[10.0f32, 10.0]", "[1.0f32, -1.0]") "[21. 29.]";
            Minimum minimum(x y) Join ALL Same Exact [commutative idempotent]
                "The smaller operand. NaN if either is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part."
                ("[1.0f32, f32::NAN]", "[2.0f32, 0.0]") "[ 1. nan]";
            Maximum maximum(x y) Join ALL Same Exact [commutative idempotent]
                "The larger operand. NaN if either is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part."
                ("[1.0f32, f32::NAN]", "[2.0f32, 0.0]") "[ 2. nan]";
            Fmin fmin(x y) Join ALL Same Exact [commutative idempotent]
                "The smaller operand, or the one that is a number: NaN only if both are. -0 < +0. Complex numbers are ordered by real, then imaginary part."
                ("[1.0f32, f32::NAN]", "[2.0f32, 0.0]") "[1. 0.]";
            Fmax fmax(x y) Join ALL Same Exact [commutative idempotent]
                "The larger operand, or the one that is a number: NaN only if both are. -0 < +0. Complex numbers are ordered by real, then imaginary part."
                ("[1.0f32, f32::NAN]", "[2.0f32, 0.0]") "[2. 0.]";
            Clip clip(x lo hi) Join BOOL|REAL Same Exact []
                "`minimum(maximum(x, lo), hi)`: NaN anywhere gives NaN; `lo > hi` gives `hi`."
                ("[-2, 3, 9]", "[0, 0, 0]", "[5, 5, 5]") "[0 3 5]";
            Complex complex(re im) Inexact PARTS Complex Exact []
                "The complex number `re + im i`, `c64` of `f32` and `c128` of `f64`."
                ("[1.0f32, 0.0]", "[2.0f32, -1.0]") "[1.+2.j 0.-1.j]";
            Polar polar(r theta) Inexact PARTS Complex Ulp(2) []
                "`r cos(theta) + r sin(theta) i`, the complex number of this modulus and angle in radians, in each part at most 2 ULP from the exact product."
                ("[2.0f32, 2.0]", "[0.0f32, 1.0]") "[2.       +0.j        1.0806046+1.6829419j]";
            Angle angle(x) Inexact FLOAT|COMPLEX Real Ulp(1) []
                "The angle of a complex number in radians, from -pi to pi: `atan2(imag(x), real(x))`. Of real numbers 0, pi for negative ones (by their sign bit, so for -0 too); NaN for NaN."
                ("[Complex::new(1.0f32, 1.0), Complex::new(-1.0, 0.0)]") "[0.7853982 3.1415927]";
            Conj conj(x) Join ALL Same Exact [involution]
                "The complex conjugate: the imaginary part with the other sign. Real numbers give themselves."
                ("[Complex::new(1.0f32, 2.0)]") "[1.-2.j]";
            Real real(x) Join ALL Real Exact []
                "The real part. Real numbers give themselves."
                ("[Complex::new(1.0f32, 2.0)]") "[1.]";
            Imag imag(x) Join ALL Real Exact []
                "The imaginary part; 0 of real numbers."
                ("[Complex::new(1.0f32, 2.0)]") "[2.]";
            Floor floor(x) Join BOOL|REAL Same Exact [idempotent]
                "The largest integral value not above `x`. Integers give themselves."
                ("[1.7f32, -1.7]") "[ 1. -2.]";
            Ceil ceil(x) Join BOOL|REAL Same Exact [idempotent]
                "The smallest integral value not below `x`. Integers give themselves."
                ("[1.2f32, -1.7]") "[ 2. -1.]";
            Trunc trunc(x) Join BOOL|REAL Same Exact [idempotent]
                "The integral value nearest to `x` not larger in magnitude. Integers give themselves."
                ("[1.7f32, -1.7]") "[ 1. -1.]";
            Round round(x) Join NUMERIC Same Exact [idempotent]
                "The nearest integral value, ties to even. Integers give themselves; complex numbers part by part."
                ("[0.5f32, 1.5, -1.7]") "[ 0.  2. -2.]";
            Rint rint(x) Inexact FLOAT|COMPLEX Same Exact [idempotent]
                "The nearest integral value as a float, ties to even: `round`, but integers become floats."
                ("[0.5f32, 1.5, -1.7]") "[ 0.  2. -2.]";
            Equal equal(x y) Join ALL Bool Exact [commutative]
                "`x = y`, compared in the common dtype; NaN equals nothing."
                ("[1, 2]", "[1, 3]") "[ true false]";
            NotEqual not_equal(x y) Join ALL Bool Exact [commutative]
                "`x != y`, compared in the common dtype; NaN differs from everything."
                ("[1, 2]", "[1, 3]") "[false  true]";
            Less less(x y) Join ALL Bool Exact []
                "`x < y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part."
                ("[1, 2]", "[2, 2]") "[ true false]";
            LessEqual less_equal(x y) Join ALL Bool Exact []
                "`x <= y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part."
                ("[1, 2]", "[2, 2]") "[true true]";
            Greater greater(x y) Join ALL Bool Exact []
                "`x > y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part."
                ("[3, 2]", "[2, 2]") "[ true false]";
            GreaterEqual greater_equal(x y) Join ALL Bool Exact []
                "`x >= y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part."
                ("[1, 2]", "[2, 2]") "[false  true]";
            LogicalAnd logical_and(x y) Logical BOOL Same Exact [commutative idempotent]
                "True where both are nonzero. NaN is nonzero."
                ("[0, 2]", "[1, 3]") "[false  true]";
            LogicalOr logical_or(x y) Logical BOOL Same Exact [commutative idempotent]
                "True where either is nonzero. NaN is nonzero."
                ("[0, 2]", "[0, 3]") "[false  true]";
            LogicalXor logical_xor(x y) Logical BOOL Same Exact [commutative]
                "True where exactly one is nonzero. NaN is nonzero."
                ("[0, 2]", "[1, 3]") "[ true false]";
            LogicalNot logical_not(x) Logical BOOL Same Exact [involution]
                "True where `x` is zero. NaN is nonzero."
                ("[0, 2]") "[ true false]";
            BitwiseAnd bitwise_and(x y) Join BOOL|INT Same Exact [commutative idempotent]
                "Bit by bit and."
                ("[12, 10]", "[10, 6]") "[8 2]";
            BitwiseOr bitwise_or(x y) Join BOOL|INT Same Exact [commutative idempotent]
                "Bit by bit or."
                ("[12, 10]", "[10, 6]") "[14 14]";
            BitwiseXor bitwise_xor(x y) Join BOOL|INT Same Exact [commutative]
                "Bit by bit exclusive or."
                ("[12, 10]", "[10, 6]") "[ 6 12]";
            BitwiseInvert bitwise_invert(x) Join BOOL|INT Same Exact [involution]
                "Every bit flipped; logical not for bool."
                ("[0, 5]") "[-1 -6]";
            BitwiseLeftShift bitwise_left_shift(x y) Number INT Same Exact []
                "`x << y`. A shift by a negative count, or by the width or more, gives 0."
                ("[1, 3]", "[4, 40]") "[16  0]";
            BitwiseRightShift bitwise_right_shift(x y) Number INT Same Exact []
                "`x >> y`, arithmetic for signed integers. A shift by a negative count, or by the width or more, gives 0 or the sign in every bit."
                ("[16, -16]", "[2, 2]") "[ 4 -4]";
            Where where_(condition x y) Select ALL Same Exact []
                "`x` where the condition is nonzero, else `y`."
                ("[true, false]", "[1, 2]", "[10, 20]") "[ 1 20]";
            IsNan isnan(x) Join ALL Bool Exact []
                "True for NaN; for a complex number if either part is NaN; false for integers."
                ("[1.0f32, f32::NAN]") "[false  true]";
            IsInf isinf(x) Join ALL Bool Exact []
                "True for infinities; for a complex number if either part is infinite; false for integers."
                ("[1.0f32, f32::INFINITY]") "[false  true]";
            IsFinite isfinite(x) Join ALL Bool Exact []
                "True for neither NaN nor infinite values; for a complex number if both parts are finite; true for integers."
                ("[1.0f32, f32::INFINITY]") "[ true false]";
            IsClose isclose(x y rtol atol) Inexact FLOAT|COMPLEX Bool Exact []
                "`|x - y| <= atol + rtol * |y|` for finite numbers, with `rtol` (NumPy's default is 1e-5) relative and `atol` (1e-8) absolute; equal infinities are close, NaN is close to nothing. Of complex tolerances the real parts count. Tolerances too are converted to the dtype computed in: `f16` has no 1e-8."
                ("[1.0f32, 1.0]", "[1.000001f32, 1.1]", "[1e-5f32, 1e-5]", "[1e-8f32, 1e-8]") "[ true false]";
            NanToNum nan_to_num(x) Join ALL Same Exact [idempotent]
                "NaN as 0, infinities as the largest finite number of their sign; complex numbers part by part. Everything else gives itself."
                ("[f32::NAN, 1.5]") "[0.  1.5]";
            Positive positive(x) Join ALL Same Exact [idempotent]
                "`+x`: the operand itself."
                ("[1, -2]") "[ 1 -2]";
            Signbit signbit(x) Join BOOL|REAL Bool Exact []
                "True where the sign bit is set: for negative numbers and -0. False for NaN, whose sign is not specified, for bool and for unsigned integers."
                ("[-0.0f32, 1.0]") "[ true false]";
            Copysign copysign(x y) Inexact FLOAT Same Exact []
                "The magnitude of `x` with the sign of `y`, also of a zero `y`; `|x|` where `y` is NaN, whose sign is not specified."
                ("[1.0f32, 2.0]", "[-0.0f32, 3.0]") "[-1.  2.]";
            Nextafter nextafter(x y) Inexact FLOAT Same Exact []
                "The next number after `x` in the direction of `y`, in the dtype computed in: `y` where they are equal, NaN if either is NaN; the smallest subnormal with the sign of `y` after a zero."
                ("[1.0f32]", "[2.0f32]") "[1.0000001]";
            Rsqrt rsqrt(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`1 / sqrt(x)`: an infinity of its sign at zeros, 0 at +inf, NaN for negative numbers and NaN. Of a complex number that of its root with non-negative real part, branch cut along the negative real axis: inf + NaN i at 0, zeros where a part is infinite (at most 1 ULP in each part, 2 in subnormal ones)."
                ("[4.0f32, 2.0]") "[0.5        0.70710677]";
            Ldexp ldexp(x n) Ldexp FLOAT Same Exact []
                "`x * 2^n` for an integer `n`, rounded once: zeros, infinities and NaN give themselves."
                ("[1.5f32, -1.0]", "[3, -1]") "[12.  -0.5]";
            FrexpMantissa frexp_mantissa(x) Inexact FLOAT Same Exact []
                "The first result of C's `frexp`: `x / 2^n` with a magnitude in [0.5, 1), where `n` is `frexp_exponent`. Zeros, infinities and NaN give themselves."
                ("[6.0f32, -0.25]") "[ 0.75 -0.5 ]";
            FrexpExponent frexp_exponent(x) Inexact FLOAT Int32 Exact []
                "The second result of C's `frexp`: the integer `n` for which `x / 2^n` has a magnitude in [0.5, 1); 0 for zeros, infinities and NaN."
                ("[6.0f32, -0.25]") "[ 3 -1]";
            ModfFraction modf_fraction(x) Inexact FLOAT Same Exact []
                "The first result of C's `modf`: `x - trunc(x)` with the sign of `x`, zeros of that sign for integral and infinite `x`; NaN for NaN."
                ("[2.25f32, -1.5]") "[ 0.25 -0.5 ]";
            ModfInteger modf_integer(x) Inexact FLOAT Same Exact [idempotent]
                "The second result of C's `modf`: `trunc(x)` as a float, with the sign of `x`."
                ("[2.25f32, -1.5]") "[ 2. -1.]";
            Cbrt cbrt(x) Inexact FLOAT Same Ulp(1) []
                "Cube root, of negative numbers too: zeros, infinities and NaN give themselves."
                ("[27.0f32, -8.0]") "[ 3. -2.]";
            Hypot hypot(x y) Inexact FLOAT Same Ulp(1) [commutative]
                "`sqrt(x^2 + y^2)` without needless overflow or underflow: infinite if either is, even beside NaN."
                ("[3.0f32, 1.0]", "[4.0f32, 1.0]") "[5.        1.4142135]";
            Pow pow(x y) Number NUMERIC Same Ulp(1) []
                "`x` to the power `y`. Integers wrap; a negative exponent gives the exact result truncated, which is 0, 1 or -1, and `0 ** -1 = 0`. Floats follow C and the Array API: `pow(x, 0)` and `pow(1, y)` are 1 even for NaN; a negative finite `x` with a finite `y` that is not integral gives NaN. Complex: `exp(y log(x))`, branch cut of `x` along the negative real axis; `x^0` is 1 and `x^1` is `x`, even for NaN; `0^y` is 0 where the real part of `y` is positive, else NaN; powers to integers up to 64 of whole numbers are exact while they fit, with the signs of zeros that NumPy gives (at most 1 ULP of the larger part while `|y log(x)| < 1000`)."
                ("[2.0f32, 9.0]", "[3.0f32, -0.5]") "[8.         0.33333334]";
            Gcd gcd(x y) Join INT Same Exact [commutative]
                "Greatest common divisor, not negative; `gcd(x, 0) = |x|`. The result wraps where it is the magnitude of `MIN`."
                ("[12, 0]", "[18, 5]") "[6 5]";
            Lcm lcm(x y) Join INT Same Exact [commutative]
                "Least common multiple of the magnitudes, 0 if either is 0; wraps."
                ("[4, 3]", "[6, 5]") "[12 15]";
            RotateLeft rotate_left(x n) Shift INT Same Exact []
                "The bits of `x` moved up by `n` places, those that fall out coming in below. The width is that of `x`; `n`, an integer of any dtype, counts modulo the width, and a negative one moves down."
                ("[0b1001_0000u8]", "[1]") "[33]";
            RotateRight rotate_right(x n) Shift INT Same Exact []
                "The bits of `x` moved down by `n` places, those that fall out coming in above. The width is that of `x`; `n`, an integer of any dtype, counts modulo the width, and a negative one moves up."
                ("[0b1001_0001u8]", "[-1]") "[35]";
            SaturatingAdd saturating_add(x y) Number INT Same Exact [commutative]
                "`x + y`, or the limit of the dtype that it passes."
                ("[200u8, 1]", "[100u8, 2]") "[255   3]";
            SaturatingSubtract saturating_subtract(x y) Number INT Same Exact []
                "`x - y`, or the limit of the dtype that it passes."
                ("[1u8, 5]", "[2u8, 3]") "[0 2]";
            Popcount popcount(x) Join INT Same Exact []
                "The number of one bits; of negative integers those of their two's complement."
                ("[7, 0, -1]") "[ 3  0 32]";
            Clz clz(x) Join INT Same Exact []
                "The number of zero bits above the highest one bit; the width for 0."
                ("[1, 0]") "[31 32]";
            Ctz ctz(x) Join INT Same Exact []
                "The number of zero bits below the lowest one bit; the width for 0."
                ("[8, 0]") "[ 3 32]";
            Threefry2x32 threefry2x32(key counter) Join U64 Same Exact []
                "The word that a key makes of a counter: Threefry-2x32 with 20 rounds, of which the module `random` makes its numbers. Different counters give different words; the high half of a word is the first of the two that the algorithm has."
                ("[0u64]", "[0u64]") "[7719171245655871230]";
            Exp exp(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "e to the power `x`: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN. Complex: `e^a (cos b + i sin b)`, each part infinite or 0 only where it overflows or underflows itself; the special values of C99 Annex G (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[1.        2.7182817]";
            Log log(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Natural logarithm: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log |x|` and the angle from -pi to pi, branch cut along the negative real axis, continuous with the side that the sign of the imaginary zero says; the special values of C99 Annex G (at most 1 ULP in each part, also where `|x|` is near 1)."
                ("[1.0f32, 10.0, 0.0]") "[0.        2.3025851      -inf]";
            Sin sin(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Sine of `x` radians, reduced exactly for all finite `x`; -0 at -0, NaN for infinities and NaN. Of a complex number `-i sinh(ix)` (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.         0.84147096]";
            Cos cos(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Cosine of `x` radians, reduced exactly for all finite `x`; NaN for infinities and NaN. Of a complex number `cosh(ix)` (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[1.        0.5403023]";
            Tan tan(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Tangent of `x` radians, reduced exactly for all finite `x`; -0 at -0, NaN for infinities and NaN. Of a complex number `-i tanh(ix)` (at most 2 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        1.5574077]";
            Asin asin(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse sine in radians, from -pi/2 to pi/2: -0 at -0, NaN beyond -1 and 1 and for NaN. Of a complex number `-i asinh(ix)`: real part from -pi/2 to pi/2, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero (at most 3 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        1.5707964]";
            Acos acos(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse cosine in radians, from 0 to pi: NaN beyond -1 and 1 and for NaN. Of a complex number `pi/2 - asin(x)`: real part from 0 to pi, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part)."
                ("[1.0f32, 0.0]") "[0.        1.5707964]";
            Atan atan(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse tangent in radians, from -pi/2 to pi/2: those at infinities, -0 at -0, NaN for NaN. Of a complex number `-i atanh(ix)`: real part from -pi/2 to pi/2, branch cuts from -i and i outwards on the imaginary axis, the side given by the sign of the zero (at most 3 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        0.7853982]";
            Atan2 atan2(y x) Inexact FLOAT Same Ulp(1) []
                "The angle of the point `(x, y)` in radians, from -pi to pi: the inverse tangent of `y / x` in the quadrant that the signs give, those of zeros too; NaN if either is NaN."
                ("[1.0f32, -1.0]", "[1.0f32, -1.0]") "[ 0.7853982 -2.3561945]";
            Degrees degrees(x) Inexact FLOAT Same Ulp(1) []
                "`x` radians in degrees, `x * 180 / pi`: zeros and infinities give themselves, NaN for NaN."
                ("[0.0f32, 3.1415927]") "[  0. 180.]";
            Radians radians(x) Inexact FLOAT Same Ulp(1) []
                "`x` degrees in radians, `x * pi / 180`: zeros and infinities give themselves, NaN for NaN."
                ("[180.0f32, 90.0]") "[3.1415927 1.5707964]";
            Tanh tanh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Hyperbolic tangent, from -1 to 1: those at infinities, -0 at -0, NaN for NaN. Of a complex number `a + bi` it is `(sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b)`, special values as in C99 Annex G: at an infinite `a` and finite `b` the imaginary part is a zero with the sign of `sin 2b` (at most 2 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        0.7615942]";
            Log1p log1p(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`log(1 + x)`, accurate near 0: -inf at -1, -0 at -0, +inf at +inf, NaN below -1 and for NaN. Complex: as `log`, branch cut along the real axis below -1 (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        0.6931472]";
            Expm1 expm1(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`e^x - 1`, accurate near 0: infinite where that overflows, -1 at -inf, -0 at -0, NaN for NaN. Complex: as `exp`, 0 at zeros whose imaginary part keeps its sign (at most 1 ULP in the imaginary part; in the real part 2, or 1 of the larger part where it cancels)."
                ("[0.0f32, 1.0]") "[0.        1.7182819]";
            Log2 log2(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Logarithm to base 2, exact for powers of two: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log(x) / log(2)`, branch cut as that of `log` (at most 1 ULP in each part, 2 in subnormal ones)."
                ("[8.0f32, 10.0]") "[3.       3.321928]";
            Log10 log10(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Logarithm to base 10, exact for powers of ten: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log(x) / log(10)`, branch cut as that of `log` (at most 1 ULP in each part, 2 in subnormal ones)."
                ("[1000.0f32, 2.0]") "[3.      0.30103]";
            Exp2 exp2(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "2 to the power `x`, exact for integers: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN. Complex: `2^a (cos(b log 2) + i sin(b log 2))`, reduced exactly for all finite `b`; special values as those of `exp` (at most 1 ULP in each part)."
                ("[10.0f32, 0.5]") "[1024.           1.4142135]";
            Cosh cosh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Hyperbolic cosine: 1 at zeros, infinite where it overflows and at infinities, NaN for NaN. Of a complex number `a + bi` it is `cosh a cos b + i sinh a sin b`, infinite only where the product is, special values as in C99 Annex G (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[1.        1.5430806]";
            Sinh sinh(x) Inexact FLOAT|COMPLEX Same Ulp(2) []
                "Hyperbolic sine: -0 at -0, infinite with the sign of `x` where it overflows and at infinities, NaN for NaN. Of a complex number `a + bi` it is `sinh a cos b + i cosh a sin b`, infinite only where the product is, special values as in C99 Annex G (at most 1 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        1.1752012]";
            Asinh asinh(x) Inexact FLOAT|COMPLEX Same Ulp(2) []
                "Inverse hyperbolic sine: zeros and infinities give themselves, NaN for NaN. Of a complex number `log(x + sqrt(x^2 + 1))`: imaginary part from -pi/2 to pi/2, branch cuts from -i and i outwards on the imaginary axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part)."
                ("[0.0f32, 1.0]") "[0.        0.8813736]";
            Acosh acosh(x) Inexact FLOAT|COMPLEX Same Ulp(2) []
                "Inverse hyperbolic cosine, not negative: +0 at 1, +inf at +inf, NaN below 1 and for NaN. Of a complex number `log(x + sqrt(x + 1) sqrt(x - 1))`: real part not negative, imaginary part from -pi to pi, branch cut from 1 downwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part)."
                ("[1.0f32, 2.0]") "[0.        1.3169578]";
            Atanh atanh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse hyperbolic tangent: infinite with their sign at 1 and -1, -0 at -0, NaN beyond and for NaN. Of a complex number `(log(1 + x) - log(1 - x)) / 2`: imaginary part from -pi/2 to pi/2, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part)."
                ("[0.0f32, 0.5]") "[0.         0.54930615]";
            Logaddexp logaddexp(x y) Inexact FLOAT Same Ulp(2) [commutative]
                "`log(e^x + e^y)`, without overflow: +inf if either is, -inf if both are, NaN if either is NaN. Where the sum cancels (results smaller than the larger operand) the error is at most one ULP of that operand."
                ("[0.0f32, 100.0]", "[0.0f32, 100.0]") "[  0.6931472 100.693146 ]";
            Logaddexp2 logaddexp2(x y) Inexact FLOAT Same Ulp(2) [commutative]
                "`log2(2^x + 2^y)`, without overflow, exactly `x + 1` for `x = y`: +inf if either is, -inf if both are, NaN if either is NaN. Where the sum cancels (results smaller than the larger operand) the error is at most one ULP of that operand."
                ("[0.0f32, 200.0]", "[0.0f32, 200.0]") "[  1. 201.]";
            Exp10 exp10(x) Inexact FLOAT Same Ulp(1) []
                "10 to the power `x`, exact where the power is a float: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN."
                ("[3.0f32, 0.5]") "[1000.           3.1622777]";
            FloatPower float_power(x y) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`x` to the power `y` as floats, also of integers: `pow` in every other respect."
                ("[2, 9]", "[-1, 2]") "[ 0.5 81. ]";
            Sigmoid sigmoid(x) Inexact FLOAT Same Ulp(2) []
                "The logistic function `1 / (1 + e^-x)`, accurate in its tail too: 0 at -inf, 1 at +inf, NaN for NaN."
                ("[0.0f32, 2.0]") "[0.5       0.8807971]";
            LogSigmoid log_sigmoid(x) Inexact FLOAT Same Ulp(2) []
                "The logarithm of `sigmoid(x)`, `-log(1 + e^-x)`, without overflow: -inf at -inf, -0 at +inf, NaN for NaN."
                ("[0.0f32, -2.0]") "[-0.6931472 -2.126928 ]";
            Softplus softplus(x) Inexact FLOAT Same Ulp(2) []
                "`log(1 + e^x)`, without overflow: 0 at -inf, +inf at +inf, NaN for NaN."
                ("[0.0f32, 2.0]") "[0.6931472 2.126928 ]";
            Silu silu(x) Inexact FLOAT Same Ulp(2) []
                "`x * sigmoid(x)`, the sigmoid linear unit or swish: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN."
                ("[0.0f32, 2.0]") "[0.        1.7615942]";
            Gelu gelu(x) Inexact FLOAT Same Ulp(2) []
                "`x` times the normal distribution function, `x / 2 * erfc(-x / sqrt(2))`, the Gaussian error linear unit: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN."
                ("[1.0f32, -1.0]") "[ 0.8413447  -0.15865526]";
            GeluTanh gelu_tanh(x) Inexact FLOAT Same Ulp(2) []
                "The approximation `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` of the Gaussian error linear unit: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN."
                ("[1.0f32, -1.0]") "[ 0.841192   -0.15880801]";
            Relu relu(x) Number REAL Same Exact [idempotent]
                "The larger of `x` and 0, the rectified linear unit; +0 at -0, NaN for NaN."
                ("[-1.5f32, 2.0]") "[0. 2.]";
            Heaviside heaviside(x h) Inexact FLOAT Same Exact []
                "The unit step: 0 for negative `x`, 1 for positive ones, `h` at zeros of either sign, NaN where `x` is NaN."
                ("[-1.5f32, 0.0, 2.0]", "[0.5f32, 0.5, 0.5]") "[0.  0.5 1. ]";
            Sinc sinc(x) Inexact FLOAT Same Ulp(2) []
                "`sin(pi x) / (pi x)`, reduced exactly for all finite `x`: 1 at zeros, +0 at all other integers and, the limit, at infinities; NaN for NaN."
                ("[0.0f32, 0.5, 1.0]") "[1.        0.6366198 0.       ]";
            Erf erf(x) Inexact FLOAT Same Ulp(1) []
                "The error function, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`: -1 and 1 at infinities, -0 at -0, NaN for NaN."
                ("[0.0f32, 0.5, 2.0]") "[0.        0.5204999 0.9953223]";
            Erfc erfc(x) Inexact FLOAT Same Ulp(2) []
                "`1 - erf(x)`, accurate where that is small: 2 at -inf, 0 at +inf and where it underflows, NaN for NaN."
                ("[0.0f32, 0.5]") "[1.         0.47950011]";
            Erfinv erfinv(x) Inexact FLOAT Same Ulp(2) []
                "The `y` with `erf(y) = x`: infinite with their sign at 1 and -1, -0 at -0, NaN beyond and for NaN."
                ("[0.0f32, 0.5, 1.0]") "[0.         0.47693628        inf]";
            Lgamma lgamma(x) Inexact FLOAT Same Ulp(2) []
                "Logarithm of the magnitude of the gamma function: +inf at infinities, at 0 and at negative integers, and where it overflows; +0 at 1 and 2; NaN for NaN. Near its zeros between negative integers the error is at most 2^-25 (`f32`) or 2^-54 (`f64`), more than 2 ULP of results so small."
                ("[1.0f32, 10.0, -0.5]") "[ 0.        12.801827   1.2655121]";
            Tgamma tgamma(x) Inexact FLOAT Same Ulp(2) []
                "The gamma function, `(x - 1)!` for positive integers: infinite with their sign at zeros, NaN at negative integers, -inf and NaN, +inf at +inf and where it overflows."
                ("[5.0f32, 0.5]") "[24.         1.7724539]";
            Digamma digamma(x) Inexact FLOAT Same Ulp(2) []
                "The slope of the logarithm of the gamma function: -inf at +0 and +inf at -0, NaN at negative integers, +inf at +inf, NaN at -inf and for NaN. Near its zeros between negative integers errors count in ULP of 1/2."
                ("[1.0f32, 2.0]") "[-0.5772157   0.42278433]";
            Polygamma polygamma(n x) Inexact FLOAT Same Ulp(3) []
                "The derivative of order `n` of `digamma(x)`, which is that of order 0: +-0 at +inf; at poles, 0 and negative integers, +inf for odd orders, for even ones infinite with the sign of -`x` at zeros and NaN at negative integers; NaN at -inf, for NaN, and for orders that are negative or no integers. Between negative integers it is written for `n` up to 2, near its zeros there in ULP of 1, and NaN for others. By `n` its slope counts as 0."
                ("[1.0f32, 2.0]", "[1.0f32, 1.0]") "[ 1.644934  -2.4041138]";
        }
    };
}
