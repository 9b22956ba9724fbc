package exact_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/geosql/geosql/mechanism/exact"
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

func TestUint64nRejects(t *testing.T) {
	// 2^64 mod 6 = 4: low words 0, .., 3 are drawn again. The word 0 gives low
	// word 0; the second word, all ones, gives 5.
	head := append(make([]byte, 8), bytes.Repeat([]byte{0xff}, 8)...)
	if k := script(head, zeros).Uint64n(6); k != 5 {
		t.Errorf("got %d from a word to be rejected and a word for 5", k)
	}
}

func TestSourceReadsNothingEarly(t *testing.T) {
	exact.NewSource(iotest.ErrReader(errors.New("read too early")))
}

func TestEntropyError(t *testing.T) {
	cause := errors.New("no more")
	d := must(exact.NewDiscreteLaplace(1))
	short := func() io.Reader {
		return io.MultiReader(io.LimitReader(pseudorandom(1), 5000), iotest.ErrReader(cause))
	}
	draws := map[string]func(s *exact.Source){
		"Uint32":         func(s *exact.Source) { s.Uint32() },
		"Bool":           func(s *exact.Source) { s.Bool() },
		"Draw":           func(s *exact.Source) { d.Draw(s) },
		"BernoulliExpL2": func(s *exact.Source) { s.BernoulliExpL2(1, 0.7, 1, 1) },
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
