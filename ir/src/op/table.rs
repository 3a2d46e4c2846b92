//! The op table: one row per elementwise op. Everything that is a fact about an op stands here; the enum, names, the parser,
//! the user's functions and methods, coverage tests and the documentation derive from it.

/// Calls `$callback!` with all rows. A row is
///
/// `Variant name arity(parameter names) operands DOMAIN result accuracy [laws] "documentation";`
///
/// - *operands*: how operand types meet ([`Operands`](crate::op::Operands));
/// - *DOMAIN*: the dtypes it computes in ([`DTypeSet`](crate::DTypeSet) constants, joined by `|`);
/// - *result*: the result dtype from the computing one ([`ResultRule`](crate::op::ResultRule));
/// - *accuracy*: `Exact` for correctly rounded, `Ulp(n)` for a maximum error of `n` units in the last place;
/// - *laws*: `commutative`, `idempotent`, `involution`: what rewrites may use. Floats obey those listed bit for bit.
#[macro_export]
macro_rules! op_table {
    ($callback:path) => {
        $callback! {
            Add add(x y) Join ALL Same Exact [commutative]
                "`x + y`. Integers wrap, bool is logical or, floats round to nearest even.";
            Subtract subtract(x y) Join NUMERIC Same Exact []
                "`x - y`. Integers wrap, floats round to nearest even.";
            Multiply multiply(x y) Join ALL Same Exact [commutative]
                "`x * y`. Integers wrap, bool is logical and; complex products are computed as (ac - bd) + (ad + bc)i.";
            Divide divide(x y) Quotient FLOAT|COMPLEX Same Exact []
                "True division `x / y`, also of integers. Floats: `x / 0` is infinite, `0 / 0` NaN. Complex quotients are scaled so that intermediate results neither overflow nor underflow needlessly.";
            FloorDivide floor_divide(x y) Number REAL Same Ulp(1) []
                "The largest integer not above `x / y`. Integers: `x // 0 = 0`, `MIN // -1 = MIN`. Floats: as NumPy's, exact where the quotient has fewer bits than a mantissa; `x // 0` is infinite or NaN.";
            Remainder remainder(x y) Number REAL Same Exact []
                "`x % y` with the sign of `y`, as Python's. Integers: `x % 0 = 0`. Floats: rounded once, zeros have the sign of `y`; NaN for `y = 0` or infinite `x`.";
            Fmod fmod(x y) Number REAL Same Exact []
                "The remainder of `x / y` truncated, C's `fmod`: the sign of `x`, also of zeros. Integers: `x fmod 0 = 0`. Floats: exact; NaN for `y = 0` or infinite `x`.";
            Negative negative(x) Join NUMERIC Same Exact [involution]
                "`-x`. Integers wrap; floats flip the sign, also of zero and NaN.";
            Abs abs(x) Join ALL Real Exact [idempotent]
                "Absolute value. `MIN` of a signed integer gives itself. Of a complex number its modulus as a float, without needless overflow (at most 1 ULP).";
            Sign sign(x) Join NUMERIC Same Exact []
                "-1, 0 or 1 with the sign of `x`; both zeros give +0, NaN gives NaN. Of a complex number `x / |x|`, 0 at 0.";
            Square square(x) Number NUMERIC Same Exact []
                "`x * x`. Integers wrap.";
            Sqrt sqrt(x) Inexact FLOAT|COMPLEX Same Exact []
                "Square root; NaN for negative reals, -0 for -0. Of a complex number the root with non-negative real part, branch cut along the negative real axis (at most 2 ULP in each part).";
            Reciprocal reciprocal(x) Inexact FLOAT|COMPLEX Same Exact []
                "`1 / x`; at zeros an infinity of their sign.";
            MulAdd mul_add(x y z) Join NUMERIC Same Exact []
                "`x * y + z`: floats are rounded once (IEEE fusedMultiplyAdd); integers wrap; complex as (ac - bd + e) + (ad + bc + f)i, fused.";
            Minimum minimum(x y) Join ALL Same Exact [commutative idempotent]
                "The smaller operand. NaN if either is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part.";
            Maximum maximum(x y) Join ALL Same Exact [commutative idempotent]
                "The larger operand. NaN if either is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part.";
            Fmin fmin(x y) Join ALL Same Exact [commutative idempotent]
                "The smaller operand, or the one that is a number: NaN only if both are. -0 < +0. Complex numbers are ordered by real, then imaginary part.";
            Fmax fmax(x y) Join ALL Same Exact [commutative idempotent]
                "The larger operand, or the one that is a number: NaN only if both are. -0 < +0. Complex numbers are ordered by real, then imaginary part.";
            Clip clip(x lo hi) Join BOOL|REAL Same Exact []
                "`minimum(maximum(x, lo), hi)`: NaN anywhere gives NaN; `lo > hi` gives `hi`.";
            Complex complex(re im) Inexact PARTS Complex Exact []
                "The complex number `re + im i`, `c64` of `f32` and `c128` of `f64`.";
            Polar polar(r theta) Inexact PARTS Complex Ulp(2) []
                "`r cos(theta) + r sin(theta) i`, the complex number of this modulus and angle in radians, in each part at most 2 ULP from the exact product.";
            Angle angle(x) Inexact FLOAT|COMPLEX Real Ulp(1) []
                "The angle of a complex number in radians, from -pi to pi: `atan2(imag(x), real(x))`. Of real numbers 0, pi for negative ones (by their sign bit, so for -0 too); NaN for NaN.";
            Conj conj(x) Join ALL Same Exact [involution]
                "The complex conjugate: the imaginary part with the other sign. Real numbers give themselves.";
            Real real(x) Join ALL Real Exact []
                "The real part. Real numbers give themselves.";
            Imag imag(x) Join ALL Real Exact []
                "The imaginary part; 0 of real numbers.";
            Floor floor(x) Join BOOL|REAL Same Exact [idempotent]
                "The largest integral value not above `x`. Integers give themselves.";
            Ceil ceil(x) Join BOOL|REAL Same Exact [idempotent]
                "The smallest integral value not below `x`. Integers give themselves.";
            Trunc trunc(x) Join BOOL|REAL Same Exact [idempotent]
                "The integral value nearest to `x` not larger in magnitude. Integers give themselves.";
            Round round(x) Join NUMERIC Same Exact [idempotent]
                "The nearest integral value, ties to even. Integers give themselves; complex numbers part by part.";
            Rint rint(x) Inexact FLOAT|COMPLEX Same Exact [idempotent]
                "The nearest integral value as a float, ties to even: [`round`](Op::Round), but integers become floats.";
            Equal equal(x y) Join ALL Bool Exact [commutative]
                "`x = y`, compared in the common dtype; NaN equals nothing.";
            NotEqual not_equal(x y) Join ALL Bool Exact [commutative]
                "`x != y`, compared in the common dtype; NaN differs from everything.";
            Less less(x y) Join ALL Bool Exact []
                "`x < y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part.";
            LessEqual less_equal(x y) Join ALL Bool Exact []
                "`x <= y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part.";
            Greater greater(x y) Join ALL Bool Exact []
                "`x > y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part.";
            GreaterEqual greater_equal(x y) Join ALL Bool Exact []
                "`x >= y`, compared in the common dtype; false for NaN. Complex numbers are ordered by real, then imaginary part.";
            LogicalAnd logical_and(x y) Logical BOOL Same Exact [commutative idempotent]
                "True where both are nonzero. NaN is nonzero.";
            LogicalOr logical_or(x y) Logical BOOL Same Exact [commutative idempotent]
                "True where either is nonzero. NaN is nonzero.";
            LogicalXor logical_xor(x y) Logical BOOL Same Exact [commutative]
                "True where exactly one is nonzero. NaN is nonzero.";
            LogicalNot logical_not(x) Logical BOOL Same Exact [involution]
                "True where `x` is zero. NaN is nonzero.";
            BitwiseAnd bitwise_and(x y) Join BOOL|INT Same Exact [commutative idempotent]
                "Bit by bit and.";
            BitwiseOr bitwise_or(x y) Join BOOL|INT Same Exact [commutative idempotent]
                "Bit by bit or.";
            BitwiseXor bitwise_xor(x y) Join BOOL|INT Same Exact [commutative]
                "Bit by bit exclusive or.";
            BitwiseInvert bitwise_invert(x) Join BOOL|INT Same Exact [involution]
                "Every bit flipped; logical not for bool.";
            BitwiseLeftShift bitwise_left_shift(x y) Number INT Same Exact []
                "`x << y`. A shift by a negative count, or by the width or more, gives 0.";
            BitwiseRightShift bitwise_right_shift(x y) Number INT Same Exact []
                "`x >> y`, arithmetic for signed integers. A shift by a negative count, or by the width or more, gives 0 or the sign in every bit.";
            Where where_(condition x y) Choose ALL Same Exact []
                "`x` where the condition is nonzero, else `y`.";
            IsNan isnan(x) Join ALL Bool Exact []
                "True for NaN; for a complex number if either part is NaN; false for integers.";
            IsInf isinf(x) Join ALL Bool Exact []
                "True for infinities; for a complex number if either part is infinite; false for integers.";
            IsFinite isfinite(x) Join ALL Bool Exact []
                "True for neither NaN nor infinite values; for a complex number if both parts are finite; true for integers.";
            IsClose isclose(x y rtol atol) Inexact FLOAT|COMPLEX Bool Exact []
                "`|x - y| <= atol + rtol * |y|` for finite numbers, with `rtol` (NumPy's default is 1e-5) relative and `atol` (1e-8) absolute; equal infinities are close, NaN is close to nothing. Of complex tolerances the real parts count.";
            NanToNum nan_to_num(x) Join ALL Same Exact [idempotent]
                "NaN as 0, infinities as the largest finite number of their sign; complex numbers part by part. Everything else gives itself.";
            Positive positive(x) Join ALL Same Exact [idempotent]
                "`+x`: the operand itself.";
            Signbit signbit(x) Join BOOL|REAL Bool Exact []
                "True where the sign bit is set: for negative numbers and -0. False for NaN, whose sign is not specified, for bool and for unsigned integers.";
            Copysign copysign(x y) Inexact FLOAT Same Exact []
                "The magnitude of `x` with the sign of `y`, also of a zero `y`; `|x|` where `y` is NaN, whose sign is not specified.";
            Nextafter nextafter(x y) Inexact FLOAT Same Exact []
                "The next number after `x` in the direction of `y`, in the dtype computed in: `y` where they are equal, NaN if either is NaN; the smallest subnormal with the sign of `y` after a zero.";
            Rsqrt rsqrt(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`1 / sqrt(x)`: an infinity of its sign at zeros, 0 at +inf, NaN for negative numbers and NaN. Of a complex number that of its root with non-negative real part, branch cut along the negative real axis: inf + NaN i at 0, zeros where a part is infinite (at most 1 ULP in each part, 2 in subnormal ones).";
            Ldexp ldexp(x n) Scale FLOAT Same Exact []
                "`x * 2^n` for an integer `n`, rounded once: zeros, infinities and NaN give themselves.";
            FrexpMantissa frexp_mantissa(x) Inexact FLOAT Same Exact []
                "The first result of C's `frexp`: `x / 2^n` with a magnitude in [0.5, 1), where `n` is [`frexp_exponent`](Op::FrexpExponent). Zeros, infinities and NaN give themselves.";
            FrexpExponent frexp_exponent(x) Inexact FLOAT Int32 Exact []
                "The second result of C's `frexp`: the integer `n` for which `x / 2^n` has a magnitude in [0.5, 1); 0 for zeros, infinities and NaN.";
            ModfFraction modf_fraction(x) Inexact FLOAT Same Exact []
                "The first result of C's `modf`: `x - trunc(x)` with the sign of `x`, zeros of that sign for integral and infinite `x`; NaN for NaN.";
            ModfInteger modf_integer(x) Inexact FLOAT Same Exact [idempotent]
                "The second result of C's `modf`: `trunc(x)` as a float, with the sign of `x`.";
            Cbrt cbrt(x) Inexact FLOAT Same Ulp(1) []
                "Cube root, of negative numbers too: zeros, infinities and NaN give themselves.";
            Hypot hypot(x y) Inexact FLOAT Same Ulp(1) [commutative]
                "`sqrt(x^2 + y^2)` without needless overflow or underflow: infinite if either is, even beside NaN.";
            Pow pow(x y) Number REAL|COMPLEX Same Ulp(1) []
                "`x` to the power `y`. Integers wrap; a negative exponent gives the exact result truncated, which is 0, 1 or -1, and `0 ** -1 = 0`. Floats follow C and the Array API: `pow(x, 0)` and `pow(1, y)` are 1 even for NaN; a negative finite `x` with a finite `y` that is not integral gives NaN. Complex: `exp(y log(x))`, branch cut of `x` along the negative real axis; `x^0` is 1 and `x^1` is `x`, even for NaN; `0^y` is 0 where the real part of `y` is positive, else NaN; powers to integers up to 64 of whole numbers are exact while they fit (at most 1 ULP of the larger part while `|y log(x)| < 1000`).";
            Gcd gcd(x y) Join INT Same Exact [commutative]
                "Greatest common divisor, not negative; `gcd(x, 0) = |x|`. The result wraps where it is the magnitude of `MIN`.";
            Lcm lcm(x y) Join INT Same Exact [commutative]
                "Least common multiple of the magnitudes, 0 if either is 0; wraps.";
            RotateLeft rotate_left(x n) Number INT Same Exact []
                "The bits of `x` moved up by `n` places, those that fall out coming in below. `n` counts modulo the width; a negative one moves down.";
            RotateRight rotate_right(x n) Number INT Same Exact []
                "The bits of `x` moved down by `n` places, those that fall out coming in above. `n` counts modulo the width; a negative one moves up.";
            SaturatingAdd saturating_add(x y) Number INT Same Exact [commutative]
                "`x + y`, or the limit of the dtype that it passes.";
            SaturatingSubtract saturating_subtract(x y) Number INT Same Exact []
                "`x - y`, or the limit of the dtype that it passes.";
            Popcount popcount(x) Join INT Same Exact []
                "The number of one bits; of negative integers those of their two's complement.";
            Clz clz(x) Join INT Same Exact []
                "The number of zero bits above the highest one bit; the width for 0.";
            Ctz ctz(x) Join INT Same Exact []
                "The number of zero bits below the lowest one bit; the width for 0.";
            Exp exp(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "e to the power `x`: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN. Complex: `e^a (cos b + i sin b)`, each part infinite or 0 only where it overflows or underflows itself; the special values of C99 Annex G (at most 1 ULP in each part).";
            Log log(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Natural logarithm: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log |x|` and the angle from -pi to pi, branch cut along the negative real axis, continuous with the side that the sign of the imaginary zero says; the special values of C99 Annex G (at most 1 ULP in each part, also where `|x|` is near 1).";
            Sin sin(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Sine of `x` radians, reduced exactly for all finite `x`; -0 at -0, NaN for infinities and NaN. Of a complex number `-i sinh(ix)` (at most 1 ULP in each part).";
            Cos cos(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Cosine of `x` radians, reduced exactly for all finite `x`; NaN for infinities and NaN. Of a complex number `cosh(ix)` (at most 1 ULP in each part).";
            Tan tan(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Tangent of `x` radians, reduced exactly for all finite `x`; -0 at -0, NaN for infinities and NaN. Of a complex number `-i tanh(ix)` (at most 2 ULP in each part).";
            Asin asin(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse sine in radians, from -pi/2 to pi/2: -0 at -0, NaN beyond -1 and 1 and for NaN. Of a complex number `-i asinh(ix)`: real part from -pi/2 to pi/2, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero (at most 3 ULP in each part).";
            Acos acos(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse cosine in radians, from 0 to pi: NaN beyond -1 and 1 and for NaN. Of a complex number `pi/2 - asin(x)`: real part from 0 to pi, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part).";
            Atan atan(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse tangent in radians, from -pi/2 to pi/2: those at infinities, -0 at -0, NaN for NaN. Of a complex number `-i atanh(ix)`: real part from -pi/2 to pi/2, branch cuts from -i and i outwards on the imaginary axis, the side given by the sign of the zero (at most 3 ULP in each part).";
            Atan2 atan2(y x) Inexact FLOAT Same Ulp(1) []
                "The angle of the point `(x, y)` in radians, from -pi to pi: the inverse tangent of `y / x` in the quadrant that the signs give, those of zeros too; NaN if either is NaN.";
            Degrees degrees(x) Inexact FLOAT Same Ulp(1) []
                "`x` radians in degrees, `x * 180 / pi`: zeros and infinities give themselves, NaN for NaN.";
            Radians radians(x) Inexact FLOAT Same Ulp(1) []
                "`x` degrees in radians, `x * pi / 180`: zeros and infinities give themselves, NaN for NaN.";
            Tanh tanh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Hyperbolic tangent, from -1 to 1: those at infinities, -0 at -0, NaN for NaN. Of a complex number `a + bi` it is `(sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b)`, special values as in C99 Annex G: at an infinite `a` and finite `b` the imaginary part is a zero with the sign of `sin 2b` (at most 2 ULP in each part).";
            Log1p log1p(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`log(1 + x)`, accurate near 0: -inf at -1, -0 at -0, +inf at +inf, NaN below -1 and for NaN. Complex: as `log`, branch cut along the real axis below -1 (at most 1 ULP in each part).";
            Expm1 expm1(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "`e^x - 1`, accurate near 0: infinite where that overflows, -1 at -inf, -0 at -0, NaN for NaN. Complex: as `exp`, 0 at zeros whose imaginary part keeps its sign (at most 1 ULP in the imaginary part; in the real part 2, or 1 of the larger part where it cancels).";
            Log2 log2(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Logarithm to base 2, exact for powers of two: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log(x) / log(2)`, branch cut as that of `log` (at most 1 ULP in each part, 2 in subnormal ones).";
            Log10 log10(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Logarithm to base 10, exact for powers of ten: -inf at zeros, +inf at +inf, NaN for negative numbers and NaN. Complex: `log(x) / log(10)`, branch cut as that of `log` (at most 1 ULP in each part, 2 in subnormal ones).";
            Exp2 exp2(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "2 to the power `x`, exact for integers: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN. Complex: `2^a (cos(b log 2) + i sin(b log 2))`, reduced exactly for all finite `b`; special values as those of `exp` (at most 1 ULP in each part).";
            Cosh cosh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Hyperbolic cosine: 1 at zeros, infinite where it overflows and at infinities, NaN for NaN. Of a complex number `a + bi` it is `cosh a cos b + i sinh a sin b`, infinite only where the product is, special values as in C99 Annex G (at most 1 ULP in each part).";
            Sinh sinh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Hyperbolic sine: -0 at -0, infinite with the sign of `x` where it overflows and at infinities, NaN for NaN. Of a complex number `a + bi` it is `sinh a cos b + i cosh a sin b`, infinite only where the product is, special values as in C99 Annex G (at most 1 ULP in each part).";
            Asinh asinh(x) Inexact FLOAT|COMPLEX Same Ulp(2) []
                "Inverse hyperbolic sine: zeros and infinities give themselves, NaN for NaN. Of a complex number `log(x + sqrt(x^2 + 1))`: imaginary part from -pi/2 to pi/2, branch cuts from -i and i outwards on the imaginary axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part).";
            Acosh acosh(x) Inexact FLOAT|COMPLEX Same Ulp(2) []
                "Inverse hyperbolic cosine, not negative: +0 at 1, +inf at +inf, NaN below 1 and for NaN. Of a complex number `log(x + sqrt(x + 1) sqrt(x - 1))`: real part not negative, imaginary part from -pi to pi, branch cut from 1 downwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part).";
            Atanh atanh(x) Inexact FLOAT|COMPLEX Same Ulp(1) []
                "Inverse hyperbolic tangent: infinite with their sign at 1 and -1, -0 at -0, NaN beyond and for NaN. Of a complex number `(log(1 + x) - log(1 - x)) / 2`: imaginary part from -pi/2 to pi/2, branch cuts from -1 and 1 outwards on the real axis, the side given by the sign of the zero, special values as in C99 Annex G (at most 3 ULP in each part).";
            Logaddexp logaddexp(x y) Inexact FLOAT Same Ulp(2) [commutative]
                "`log(e^x + e^y)`, without overflow: +inf if either is, -inf if both are, NaN if either is NaN. Where the sum cancels (results smaller than the larger operand) the error is at most one ULP of that operand.";
            Logaddexp2 logaddexp2(x y) Inexact FLOAT Same Ulp(2) [commutative]
                "`log2(2^x + 2^y)`, without overflow, exactly `x + 1` for `x = y`: +inf if either is, -inf if both are, NaN if either is NaN. Where the sum cancels (results smaller than the larger operand) the error is at most one ULP of that operand.";
            Exp10 exp10(x) Inexact FLOAT Same Ulp(1) []
                "10 to the power `x`, exact where the power is a float: infinite where that overflows, 0 where it underflows and at -inf; NaN for NaN.";
            FloatPower float_power(x y) Inexact FLOAT Same Ulp(1) []
                "`x` to the power `y` as floats, also of integers: `pow` in every other respect.";
            Sigmoid sigmoid(x) Inexact FLOAT Same Ulp(1) []
                "The logistic function `1 / (1 + e^-x)`, accurate in its tail too: 0 at -inf, 1 at +inf, NaN for NaN.";
            LogSigmoid log_sigmoid(x) Inexact FLOAT Same Ulp(2) []
                "The logarithm of `sigmoid(x)`, `-log(1 + e^-x)`, without overflow: -inf at -inf, -0 at +inf, NaN for NaN.";
            Softplus softplus(x) Inexact FLOAT Same Ulp(2) []
                "`log(1 + e^x)`, without overflow: 0 at -inf, +inf at +inf, NaN for NaN.";
            Silu silu(x) Inexact FLOAT Same Ulp(1) []
                "`x * sigmoid(x)`, the sigmoid linear unit or swish: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN.";
            Gelu gelu(x) Inexact FLOAT Same Ulp(2) []
                "`x` times the normal distribution function, `x / 2 * erfc(-x / sqrt(2))`, the Gaussian error linear unit: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN.";
            GeluTanh gelu_tanh(x) Inexact FLOAT Same Ulp(1) []
                "The approximation `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` of the Gaussian error linear unit: zeros give themselves, +inf at +inf, at -inf the limit, -0; NaN for NaN.";
            Relu relu(x) Number REAL Same Exact [idempotent]
                "The larger of `x` and 0, the rectified linear unit; +0 at -0, NaN for NaN.";
            Heaviside heaviside(x h) Inexact FLOAT Same Exact []
                "The unit step: 0 for negative `x`, 1 for positive ones, `h` at zeros of either sign, NaN where `x` is NaN.";
            Sinc sinc(x) Inexact FLOAT Same Ulp(2) []
                "`sin(pi x) / (pi x)`, reduced exactly for all finite `x`: 1 at zeros, +0 at all other integers and, the limit, at infinities; NaN for NaN.";
            Erf erf(x) Inexact FLOAT Same Ulp(1) []
                "The error function, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`: -1 and 1 at infinities, -0 at -0, NaN for NaN.";
            Erfc erfc(x) Inexact FLOAT Same Ulp(2) []
                "`1 - erf(x)`, accurate where that is small: 2 at -inf, 0 at +inf and where it underflows, NaN for NaN.";
            Erfinv erfinv(x) Inexact FLOAT Same Ulp(2) []
                "The `y` with `erf(y) = x`: infinite with their sign at 1 and -1, -0 at -0, NaN beyond and for NaN.";
            Lgamma lgamma(x) Inexact FLOAT Same Ulp(2) []
                "Logarithm of the magnitude of the gamma function: +inf at infinities, at 0 and at negative integers, and where it overflows; +0 at 1 and 2; NaN for NaN. Near its zeros between negative integers the error is at most 2^-25 (`f32`) or 2^-54 (`f64`), more than 2 ULP of results so small.";
            Tgamma tgamma(x) Inexact FLOAT Same Ulp(1) []
                "The gamma function, `(x - 1)!` for positive integers: infinite with their sign at zeros, NaN at negative integers, -inf and NaN, +inf at +inf and where it overflows.";
        }
    };
}
