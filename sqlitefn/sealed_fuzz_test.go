package sqlitefn_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// FuzzForgedRange puts any bytes behind a value. If they are a range that dx_narrow takes, it is
// used as such. If not, there is an error, and no charge.
func FuzzForgedRange(f *testing.F) {
	d := newSealed(f, sealedRows)
	value := d.seal.Value(columnKWh, "ana", 7)
	encoded := func(lo, hi float64) []byte {
		b := binary.BigEndian.AppendUint64(nil, math.Float64bits(lo))
		return binary.BigEndian.AppendUint64(b, math.Float64bits(hi))
	}
	for _, ends := range [][2]float64{{0, 10}, {2, 6}, {6, 2}, {3, 3}, {-1, 5}, {0, 11}, {0.5, 3}, {math.NaN(), 1}, {0, math.Inf(1)}, {math.Copysign(0, -1), 5}, {5e-324, 1}, {math.Nextafter(0, 1), math.Nextafter(10, 0)}} {
		f.Add(encoded(ends[0], ends[1]))
	}
	f.Add(append([]byte{'p'}, encoded(0, 20)...))
	f.Add(append(append(encoded(0, 5), 'p'), encoded(0, 20)...))
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add(bytes.Repeat([]byte{255}, 16))
	f.Add(bytes.Repeat([]byte{255}, 17))
	index := func(b []byte) (int64, bool) {
		v := math.Float64frombits(binary.BigEndian.Uint64(b))
		return int64(v), v >= 0 && v <= 10 && v == math.Trunc(v)
	}
	f.Fuzz(func(t *testing.T, suffix []byte) {
		d := d.database.with(t)
		want, good := int64(7), len(suffix) == 0
		if len(suffix) == 16 {
			lo, first := index(suffix)
			hi, last := index(suffix[8:])
			want, good = min(max(7, lo), hi), first && last && lo < hi
		}
		before := d.evaluations()
		rows, err := d.try(fmt.Sprintf(`SELECT dx_value(x'%x%x', 100)`, value, suffix))
		switch {
		case good && (err != nil || fmt.Sprint(rows) != fmt.Sprintf("[[%d]]", want)):
			t.Errorf("%x: %v, %v; want %d", suffix, rows, err, want)
		case !good && (err == nil || !strings.HasPrefix(err.Error(), "dx_value: sealed ") || d.evaluations() != before):
			t.Errorf("%x: %v, %v", suffix, rows, err)
		}
	})
}
