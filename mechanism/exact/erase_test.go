package exact

import "testing"

func TestConsumedBytesAreErased(t *testing.T) {
	s := NewSource(nil)
	d, err := NewDiscreteLaplace(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		d.Draw(s)
		s.Uint64()
		for i, b := range s.buf[:s.next] {
			if b != 0 {
				t.Fatalf("byte %d of %d consumed bytes is still there", i, s.next)
			}
		}
	}
	for s.pooled > 0 {
		s.Bool()
	}
	if s.pool != 0 {
		t.Error("consumed bits are still in the pool")
	}
}
