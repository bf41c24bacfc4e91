#include "textflag.h"

// Four complex64 fill a register. The order of all operations is that of passes.go, and no
// multiplication is fused with an addition, so that both give the same bits.

// odds has the sign bit of the imaginary parts.
DATA odds<>+0(SB)/8, $0x8000000000000000
DATA odds<>+8(SB)/8, $0x8000000000000000
DATA odds<>+16(SB)/8, $0x8000000000000000
DATA odds<>+24(SB)/8, $0x8000000000000000
GLOBL odds<>(SB), RODATA|NOPTR, $32

DATA halves<>+0(SB)/8, $0x3f0000003f000000
DATA halves<>+8(SB)/8, $0x3f0000003f000000
DATA halves<>+16(SB)/8, $0x3f0000003f000000
DATA halves<>+24(SB)/8, $0x3f0000003f000000
GLOBL halves<>(SB), RODATA|NOPTR, $32

// BUTTERFLY turns a, b, c, d in Y0 to Y3 into the four sums before their twiddles: Y4, Y5,
// Y6, Y7. Y15 is odds.
#define BUTTERFLY \
	VADDPS    Y2, Y0, Y4       \ // even = a+c
	VSUBPS    Y2, Y0, Y5       \ // odd = a-c
	VADDPS    Y3, Y1, Y6       \ // sum = b+d
	VSUBPS    Y3, Y1, Y7       \ // diff = b-d
	VPERMILPS $0xB1, Y7, Y7    \
	VXORPS    Y15, Y7, Y7      \ // turned
	VADDPS    Y6, Y4, Y0       \ // even+sum
	VADDPS    Y7, Y5, Y1       \ // odd+turned
	VSUBPS    Y6, Y4, Y2       \ // even-sum
	VSUBPS    Y7, Y5, Y3         // odd-turned

// TIMES multiplies x by a complex of the real parts re and the imaginary parts im, with Y4
// and Y5 to spare.
#define TIMES(x, re, im) \
	VMULPS    re, x, Y4        \
	VPERMILPS $0xB1, x, Y5     \
	VMULPS    im, Y5, Y5       \
	VADDSUBPS Y5, Y4, x

// REVERSE turns the four of x around.
#define REVERSE(x) \
	VPERM2F128 $1, x, x, x     \
	VPERMILPD  $5, x, x

// func firstPassAVX(out, in, w *complex64, quarter int)
TEXT ·firstPassAVX(SB), NOSPLIT, $0-32
	MOVQ    out+0(FP), DI
	MOVQ    in+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    quarter+24(FP), CX
	VMOVUPS odds<>(SB), Y15
	LEAQ    (SI)(CX*8), R8
	LEAQ    (R8)(CX*8), R9
	LEAQ    (R9)(CX*8), R10
	LEAQ    (DX)(CX*8), R11
	LEAQ    (R11)(CX*8), R12
	XORQ    AX, AX

first:
	VMOVUPS (SI)(AX*8), Y0
	VMOVUPS (R8)(AX*8), Y1
	VMOVUPS (R9)(AX*8), Y2
	VMOVUPS (R10)(AX*8), Y3
	BUTTERFLY
	VMOVSLDUP (DX)(AX*8), Y8
	VMOVSHDUP (DX)(AX*8), Y9
	TIMES(Y1, Y8, Y9)
	VMOVSLDUP (R11)(AX*8), Y8
	VMOVSHDUP (R11)(AX*8), Y9
	TIMES(Y2, Y8, Y9)
	VMOVSLDUP (R12)(AX*8), Y8
	VMOVSHDUP (R12)(AX*8), Y9
	TIMES(Y3, Y8, Y9)

	// Rows become columns.
	VUNPCKLPD  Y1, Y0, Y4
	VUNPCKHPD  Y1, Y0, Y5
	VUNPCKLPD  Y3, Y2, Y6
	VUNPCKHPD  Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, 32(DI)
	VMOVUPS    Y2, 64(DI)
	VMOVUPS    Y3, 96(DI)
	ADDQ       $128, DI
	ADDQ       $4, AX
	CMPQ       AX, CX
	JLT        first
	VZEROUPPER
	RET

// func radix4AVX(out, in, w *complex64, quarter, stride int)
TEXT ·radix4AVX(SB), NOSPLIT, $0-40
	MOVQ    out+0(FP), DI
	MOVQ    in+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    quarter+24(FP), CX
	MOVQ    stride+32(FP), BX
	VMOVUPS odds<>(SB), Y15
	LEAQ    (SI)(CX*8), R8
	LEAQ    (R8)(CX*8), R9
	LEAQ    (R9)(CX*8), R10
	LEAQ    (SI)(CX*8), R13  // where the first quarter ends

group:
	VBROADCASTSS (DX), Y8
	VBROADCASTSS 4(DX), Y9
	VBROADCASTSS 8(DX), Y10
	VBROADCASTSS 12(DX), Y11
	VBROADCASTSS 16(DX), Y12
	VBROADCASTSS 20(DX), Y13
	ADDQ         $24, DX
	LEAQ         (DI)(BX*8), R11
	LEAQ         (R11)(BX*8), R12
	LEAQ         (R12)(BX*8), R14
	XORQ         AX, AX

four:
	VMOVUPS (SI)(AX*8), Y0
	VMOVUPS (R8)(AX*8), Y1
	VMOVUPS (R9)(AX*8), Y2
	VMOVUPS (R10)(AX*8), Y3
	BUTTERFLY
	TIMES(Y1, Y8, Y9)
	TIMES(Y2, Y10, Y11)
	TIMES(Y3, Y12, Y13)
	VMOVUPS Y0, (DI)(AX*8)
	VMOVUPS Y1, (R11)(AX*8)
	VMOVUPS Y2, (R12)(AX*8)
	VMOVUPS Y3, (R14)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, BX
	JLT     four

	LEAQ (R14)(BX*8), DI
	LEAQ (SI)(BX*8), SI
	LEAQ (R8)(BX*8), R8
	LEAQ (R9)(BX*8), R9
	LEAQ (R10)(BX*8), R10
	CMPQ SI, R13
	JLT  group
	VZEROUPPER
	RET

// func lastPassAVX(out, in *complex64, stride int)
TEXT ·lastPassAVX(SB), NOSPLIT, $0-24
	MOVQ out+0(FP), DI
	MOVQ in+8(FP), SI
	MOVQ stride+16(FP), CX
	LEAQ (SI)(CX*8), R8
	LEAQ (DI)(CX*8), R9
	XORQ AX, AX

pairs:
	VMOVUPS (SI)(AX*8), Y0
	VMOVUPS (R8)(AX*8), Y1
	VADDPS  Y1, Y0, Y2
	VSUBPS  Y1, Y0, Y3
	VMOVUPS Y2, (DI)(AX*8)
	VMOVUPS Y3, (R9)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     pairs
	VZEROUPPER
	RET

// func unfoldAVX(dst, z, w *complex64, half, n int)
TEXT ·unfoldAVX(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    z+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    half+24(FP), BX
	MOVQ    n+32(FP), CX
	VMOVUPS odds<>(SB), Y15
	VMOVUPS halves<>(SB), Y14
	LEAQ    -32(SI)(BX*8), R8 // the last four of z
	LEAQ    -32(DI)(BX*8), R9
	MOVQ    $1, AX
	LEAQ    1(CX), CX

unfold:
	VMOVUPS   (SI)(AX*8), Y0  // p
	VMOVUPS   (R8), Y1
	REVERSE(Y1)
	VXORPS    Y15, Y1, Y1     // the conjugate of q
	VADDPS    Y1, Y0, Y2
	VMULPS    Y14, Y2, Y2     // even
	VSUBPS    Y1, Y0, Y3
	VPERMILPS $0xB1, Y3, Y3
	VXORPS    Y15, Y3, Y3
	VMULPS    Y14, Y3, Y3     // odd
	VMOVSLDUP (DX)(AX*8), Y8
	VMOVSHDUP (DX)(AX*8), Y9
	TIMES(Y3, Y8, Y9)
	VADDPS    Y3, Y2, Y0
	VSUBPS    Y3, Y2, Y1
	VXORPS    Y15, Y1, Y1
	REVERSE(Y1)
	VMOVUPS   Y0, (DI)(AX*8)
	VMOVUPS   Y1, (R9)
	SUBQ      $32, R8
	SUBQ      $32, R9
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       unfold
	VZEROUPPER
	RET

// func foldAVX(a, x, w *complex64, half, n int)
TEXT ·foldAVX(SB), NOSPLIT, $0-40
	MOVQ    a+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    w+16(FP), DX
	MOVQ    half+24(FP), BX
	MOVQ    n+32(FP), CX
	VMOVUPS odds<>(SB), Y15
	LEAQ    -32(SI)(BX*8), R8
	LEAQ    -32(DI)(BX*8), R9
	MOVQ    $1, AX
	LEAQ    1(CX), CX

fold:
	VMOVUPS   (SI)(AX*8), Y0  // p
	VMOVUPS   (R8), Y1
	REVERSE(Y1)
	VXORPS    Y15, Y1, Y1     // the conjugate of q
	VADDPS    Y1, Y0, Y2      // even
	VSUBPS    Y1, Y0, Y3      // odd
	VMOVUPS   (DX)(AX*8), Y6
	VXORPS    Y15, Y6, Y6
	VMOVSLDUP Y6, Y8
	VMOVSHDUP Y6, Y9
	TIMES(Y3, Y8, Y9)
	VPERMILPS $0xB1, Y3, Y3
	VADDSUBPS Y3, Y2, Y0
	VXORPS    Y15, Y0, Y0
	VXORPS    Y15, Y3, Y3
	VADDPS    Y3, Y2, Y1
	REVERSE(Y1)
	VMOVUPS   Y0, (DI)(AX*8)
	VMOVUPS   Y1, (R9)
	SUBQ      $32, R8
	SUBQ      $32, R9
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       fold
	VZEROUPPER
	RET

// func conjugateAVX(dst, src *complex64, n int)
TEXT ·conjugateAVX(SB), NOSPLIT, $0-24
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS odds<>(SB), Y15
	XORQ    AX, AX

conjugate:
	VMOVUPS (SI)(AX*8), Y0
	VXORPS  Y15, Y0, Y0
	VMOVUPS Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     conjugate
	VZEROUPPER
	RET

// func multiplyAVX(dst, a, b *complex64, n int)
TEXT ·multiplyAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

multiply:
	VMOVUPS   (DX)(AX*8), Y0
	VMOVSLDUP (SI)(AX*8), Y8
	VMOVSHDUP (SI)(AX*8), Y9
	TIMES(Y0, Y8, Y9)
	VMOVUPS   Y0, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       multiply
	VZEROUPPER
	RET

// func packAVX(dst *complex64, x *float32, n int)
TEXT ·packAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

pack:
	VMOVUPS (SI)(AX*8), Y0
	VMOVUPS Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     pack
	VZEROUPPER
	RET

// func unpackAVX(dst *float32, z *complex64, n int)
TEXT ·unpackAVX(SB), NOSPLIT, $0-24
	JMP ·conjugateAVX(SB)

// func weightAVX(dst, w, x *float32, n int)
TEXT ·weightAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

weight:
	VMOVUPS (SI)(AX*4), Y0
	VMULPS  (DX)(AX*4), Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, CX
	JLT     weight
	VZEROUPPER
	RET

// func powersAVX(dst *float32, z *complex64, n int)
TEXT ·powersAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ z+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

powers:
	VMOVUPS    (SI)(AX*8), Y0
	VMOVUPS    32(SI)(AX*8), Y1
	VMULPS     Y0, Y0, Y0
	VMULPS     Y1, Y1, Y1
	VPERM2F128 $0x20, Y1, Y0, Y2 // values 0, 1, 4, 5
	VPERM2F128 $0x31, Y1, Y0, Y3 // values 2, 3, 6, 7
	VHADDPS    Y3, Y2, Y0
	VMOVUPS    Y0, (DI)(AX*4)
	ADDQ       $8, AX
	CMPQ       AX, CX
	JLT        powers
	VZEROUPPER
	RET
