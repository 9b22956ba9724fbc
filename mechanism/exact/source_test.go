package exact_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"testing"
	"testing/iotest"

	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// TestSourceReadsEveryByteOnce compares words of both sizes, at every
// alignment to the buffer, with the bytes they are made of.
func TestSourceReadsEveryByteOnce(t *testing.T) {
	want := make([]byte, 20_000)
	io.ReadFull(pseudorandom(1), want)
	s := exact.NewSource(pseudorandom(1))
	pick := pseudorandom(2)
	var got []byte
	for len(got) < len(want) {
		choice := []byte{0}
		pick.Read(choice)
		w := uint64(s.Uint32())
		if choice[0]&1 == 0 {
			got = append(got, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
			continue
		}
		got = append(got, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
		w = s.Uint64()
		for shift := 56; shift >= 0; shift -= 8 {
			got = append(got, byte(w>>shift))
		}
	}
	if !bytes.Equal(got[:len(want)], want) {
		t.Error("words are not the bytes read, in order")
	}
}

func TestSourceBool(t *testing.T) {
	want := []byte{0b1010_0011, 0xff, 0x00, 0x01, 0x80, 0x55, 0xaa, 0x0f, 0x3c}
	s := script(want, zeros)
	for i, b := range want {
		for bit := 7; bit >= 0; bit-- {
			if s.Bool() != (b>>bit&1 == 1) {
				t.Fatalf("bit %d of byte %d differs", bit, i)
			}
		}
	}
}

func TestBelowRejects(t *testing.T) {
	// 2^64 mod 6 = 4: low words 0, .., 3 are drawn again. The word 0 gives low
	// word 0; the second word, all ones, gives 5.
	head := append(make([]byte, 8), bytes.Repeat([]byte{0xff}, 8)...)
	if k := script(head, zeros).Below(6); k != 5 {
		t.Errorf("got %d from a word to be rejected and a word for 5", k)
	}
}

// misfitBelow checks that exactly floor(2^64/n) words give k, as for every other
// result: those from ceil((k 2^64 + 2^64 mod n)/n) on. Their neighbours do not
// give k, and the first and the last one do; so do all between them, since the
// high word of the product with n stays k and the low word only grows. A word
// is rejected if one more is read.
func misfitBelow(n, k uint64, draw func(s *exact.Source, n uint64) uint64) error {
	modulus, range64 := new(big.Int).SetUint64(n), new(big.Int).Lsh(big.NewInt(1), 64)
	share, excess := new(big.Int).QuoRem(range64, modulus, new(big.Int))
	first := new(big.Int).Mul(new(big.Int).SetUint64(k), range64)
	first.Add(first, excess).Add(first, modulus).Sub(first, big.NewInt(1)).Quo(first, modulus)
	last := new(big.Int).Add(first, share)
	last.Sub(last, big.NewInt(1))
	gives := func(word *big.Int) bool {
		const next = 0xffff_ffff_ffff_ffff // never rejected
		head := binary.BigEndian.AppendUint64(word.FillBytes(make([]byte, 8)), next)
		s := script(head, zeros)
		return draw(s, n) == k && s.Uint64() == next
	}
	before, after := new(big.Int).Sub(first, big.NewInt(1)), new(big.Int).Add(last, big.NewInt(1))
	switch {
	case last.BitLen() > 64:
		return fmt.Errorf("n = %d, k = %d: too few words are left", n, k)
	case !gives(first) || !gives(last):
		return fmt.Errorf("n = %d, k = %d: too few words", n, k)
	case before.Sign() >= 0 && gives(before) || after.BitLen() <= 64 && gives(after):
		return fmt.Errorf("n = %d, k = %d: too many words", n, k)
	}
	return nil
}

func TestBelowExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "n")
		k := rapid.Uint64Range(0, n-1).Draw(t, "k")
		if err := misfitBelow(n, k, (*exact.Source).Below); err != nil {
			t.Fatal(err)
		}
	})
	for _, n := range []uint64{1, 2, 3, 6, 1 << 32, 1<<63 - 1, 1 << 63, 1<<63 + 1, 3 << 62, math.MaxUint64} {
		for _, k := range []uint64{0, n / 2, n - 1} {
			if err := misfitBelow(n, k, (*exact.Source).Below); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestBelowExactMisfits plants results off by a single word.
func TestBelowExactMisfits(t *testing.T) {
	const n = 6
	for name, draw := range map[string]func(s *exact.Source, n uint64) uint64{
		"no rejection": naiveBelow,
		"modulus":      func(s *exact.Source, n uint64) uint64 { return s.Uint64() % n },
		"rejects n low words": func(s *exact.Source, n uint64) uint64 {
			for {
				if high, low := bits.Mul64(s.Uint64(), n); low >= n {
					return high
				}
			}
		},
	} {
		noticed := false
		for k := range uint64(n) {
			noticed = noticed || misfitBelow(n, k, draw) != nil
		}
		if !noticed {
			t.Errorf("%s not noticed", name)
		}
	}
}

func TestBelowAllocates(t *testing.T) {
	s := exact.NewSource(nil)
	for _, n := range []uint64{1, 1000, 1<<63 + 1} {
		if a := testing.AllocsPerRun(10_000, func() { s.Below(n) }); a != 0 {
			t.Errorf("n = %d: %v allocations", n, a)
		}
	}
}

func TestSourceReadsNothingEarly(t *testing.T) {
	exact.NewSource(iotest.ErrReader(errors.New("read too early")))
}

func TestEntropyError(t *testing.T) {
	cause := errors.New("no more")
	d := must(exact.NewDiscreteLaplace(1))
	g := must(exact.NewGeometric(1))
	planar := must(exact.NewPlanarLaplace(1, 0.7))
	short := func() io.Reader {
		return io.MultiReader(io.LimitReader(pseudorandom(1), 5000), iotest.ErrReader(cause))
	}
	draws := map[string]func(s *exact.Source){
		"Uint32":            func(s *exact.Source) { s.Uint32() },
		"Bool":              func(s *exact.Source) { s.Bool() },
		"Below":             func(s *exact.Source) { s.Below(6) },
		"DiscreteLaplace":   func(s *exact.Source) { d.Draw(s) },
		"Geometric":         func(s *exact.Source) { g.Draw(s) },
		"BernoulliExpRatio": func(s *exact.Source) { s.BernoulliExpRatio(1, 1, 3) },
		"BernoulliExpL2":    func(s *exact.Source) { s.BernoulliExpL2(1, 0.7, 1, 1) },
		"PlanarLaplace":     func(s *exact.Source) { planar.Draw(s) },
		"RoundedNormal":     func(s *exact.Source) { s.RoundedNormal(0, 1) },
	}
	for name, draw := range draws {
		s := exact.NewSource(short())
		err := recovered(func() {
			for {
				draw(s)
			}
		})
		var failure *exact.EntropyError
		if !errors.As(err, &failure) || !errors.Is(err, cause) || err.Error() != "entropy failed: no more" {
			t.Errorf("%s: panic with %v", name, err)
		}
		// The half-filled buffer must not be handed out by the next draw.
		if recovered(func() { s.Uint32() }) == nil {
			t.Errorf("%s: a draw after the failure succeeded", name)
		}
	}
}

// recovered runs f and returns the error it panics with.
func recovered(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	f()
	return nil
}
