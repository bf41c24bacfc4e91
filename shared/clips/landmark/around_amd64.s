#include "textflag.h"

// func aroundAVX(loudest, most, power *float32, maxima *uint8, floor float32)
TEXT ·aroundAVX(SB), NOSPLIT, $0-36
	MOVQ         loudest+0(FP), DI
	MOVQ         most+8(FP), R8
	MOVQ         power+16(FP), SI
	MOVQ         maxima+24(FP), DX
	VBROADCASTSS floor+32(FP), Y7
	XORQ         AX, AX

four:
	VMOVUPS (SI)(AX*4), Y0
	VMOVUPS 8(SI)(AX*4), Y1
	VMAXPS  4(SI)(AX*4), Y0, Y0
	VMAXPS  12(SI)(AX*4), Y1, Y1
	VMAXPS  Y1, Y0, Y0
	VMOVUPS Y0, (R8)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, $280           // fours
	JLT     four
	XORQ    AX, AX

sixteen:
	VMOVUPS (R8)(AX*4), Y0
	VMOVUPS 32(R8)(AX*4), Y1
	VMAXPS  16(R8)(AX*4), Y0, Y0
	VMAXPS  48(R8)(AX*4), Y1, Y1
	VMAXPS  Y1, Y0, Y0
	VMOVUPS Y0, (R8)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, $264           // sixteen
	JLT     sixteen
	XORQ    AX, AX

bins:
	VMOVUPS   (R8)(AX*4), Y0
	VMAXPS    20(R8)(AX*4), Y0, Y0    // 2*binsAround+1-16 later
	VMOVUPS   Y0, (DI)(AX*4)
	VMOVUPS   40(SI)(AX*4), Y1        // binsAround later
	VCMPPS    $0, Y0, Y1, Y2          // equal
	VCMPPS    $1, Y1, Y7, Y3          // floor is less
	VANDPS    Y3, Y2, Y2
	VMOVMSKPS Y2, CX
	MOVB      CX, (DX)
	INCQ      DX
	ADDQ      $8, AX
	CMPQ      AX, $256
	JLT       bins
	VZEROUPPER
	RET
