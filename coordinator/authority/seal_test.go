package authority

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestASealedKeyIsReadOnlyWithItsKeyAndItsRealm(t *testing.T) {
	t.Parallel()
	k := NewSealingKey()
	sealed, err := k.Seal("default", []byte("secret of the CA"))
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "secret")
	twice, err := k.Seal("default", []byte("secret of the CA"))
	require.NoError(t, err)
	require.NotEqual(t, sealed, twice, "the nonce is random")
	again, err := ParseSealingKey(k.Reveal())
	require.NoError(t, err)
	plain, err := again.Unseal("default", sealed)
	require.NoError(t, err)
	require.Equal(t, "secret of the CA", string(plain))

	_, err = NewSealingKey().Unseal("default", sealed)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	_, err = k.Unseal("other", sealed)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	for i := range sealed {
		damaged := append([]byte{}, sealed...)
		damaged[i] ^= 1
		_, err = k.Unseal("default", damaged)
		require.ErrorIs(t, err, fault.ErrUnauthenticated, "byte %d", i)
	}
	_, err = k.Unseal("default", sealed[:5])
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestASealingKeyIsNeverPrintedAndItsTextIsChecked(t *testing.T) {
	t.Parallel()
	k := NewSealingKey()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		require.Equal(t, "(secret)", fmt.Sprintf(verb, k))
	}
	require.Equal(t, "(secret)", k.LogValue().String())
	for _, text := range []string{"", "ab", k.Reveal() + "00", strings.Repeat("g", 64), k.Reveal()[:63]} {
		_, err := ParseSealingKey(text)
		require.ErrorIs(t, err, fault.ErrInvalid)
		if text != "" {
			require.NotContains(t, err.Error(), text+" ")
		}
	}
}
