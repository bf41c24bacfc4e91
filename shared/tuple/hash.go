package tuple

import (
	"hash/maphash"
	"math"
)

// Hash returns a hash of the fields that the shape names. Equal fields have equal
// hashes under one seed. The seed should be random, so that untrusted clients cannot
// choose tuples that collide.
func (t Tuple) Hash(seed maphash.Seed, s Shape) uint64 { return hash(seed, t, s) }

// Hash returns what Tuple.Hash returns for the tuples that p matches, taken at
// p's own shape.
func (p Template) Hash(seed maphash.Seed) uint64 { return hash(seed, p, p.Shape()) }

// hash combines the hashes of the fields that s names, in their order.
func hash(seed maphash.Seed, fields []any, s Shape) uint64 {
	h := mix(maphash.String(seed, ""), uint64(len(fields))) // the hash of "" is the seed itself
	for i, f := range fields {
		if s&(1<<i) != 0 { // i is below MaxArity, the bits of a Shape
			h = mix(h, hashField(seed, f))
		}
	}
	return h
}

// hashField gives equal fields (see the package comment) equal hashes. The small numbers make
// values of different types differ. A nested tuple counts with all its fields. Formals are in no
// shape, so that they need no hash.
func hashField(seed maphash.Seed, f any) uint64 {
	switch v := f.(type) {
	case string:
		return maphash.String(seed, v)
	case []byte:
		return maphash.Bytes(seed, v)
	case int64:
		return mix(uint64(v), 3)
	case int:
		return mix(uint64(v), 5)
	case int32:
		return mix(uint64(v), 7)
	case bool:
		if v {
			return 11
		}
		return 13
	case float64:
		return mix(floatBits(v), 17)
	case float32:
		return mix(floatBits(float64(v)), 19)
	case Tuple:
		return hash(seed, v, ^Shape(0))
	case Opaque:
		return mix(maphash.String(seed, v.Name), maphash.String(seed, v.JSON))
	}
	return 23
}

// floatBits gives equal floats (see the package comment) equal bits: 0 and -0, and all NaNs.
func floatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if math.IsNaN(f) {
		return math.MaxUint64
	}
	return math.Float64bits(f)
}

// mix combines two words (the finaliser of splitmix64; Steele et al., OOPSLA 2014).
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
