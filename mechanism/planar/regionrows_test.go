package planar

import (
	"encoding/binary"
	"hash/crc64"
	"slices"
	"strings"
	"testing"
)

// holey is a region of several strips a row.
const holey = "MULTIPOLYGON(((115.996 39.997, 116.004 39.997, 116.004 40.003, 115.996 40.003, 115.996 39.997), " +
	"(115.998 39.999, 116.002 39.999, 116 40.001, 115.998 39.999)), ((116.005 39.995, 116.006 39.995, 116.006 39.999, 116.005 39.995)))"

func TestRegionRowsRoundTrip(t *testing.T) {
	for _, c := range []struct {
		d   *Domain
		wkt string
	}{
		{gridDomain(t), concave},
		{gridDomain(t), holey},
		{mustDomain(t, -20, 177, -16, -178, 5000), "POLYGON((178 -19, -179 -19, -179 -17, 178 -17, 178 -19))"},
		{mustDomain(t, 30.0000001, 40.0000002, 30.000004, 40.000005, 0.012), "POLYGON((39 29, 41 29, 41 31, 39 29))"},
	} {
		region, err := c.d.WithRegion(t.Context(), c.wkt)
		if err != nil {
			t.Fatal(err)
		}
		rows := region.RegionRows()
		again, err := c.d.WithRegionRows(c.wkt, rows)
		if err != nil {
			t.Fatalf("%s: %v", c.wkt, err)
		}
		if !slices.Equal(again.region.strips, region.region.strips) || !slices.Equal(again.region.extent, region.region.extent) {
			t.Errorf("%s: another region", c.wkt)
		}
		if !slices.Equal(again.RegionRows(), rows) {
			t.Errorf("%s: other rows", c.wkt)
		}
	}
	if rows := gridDomain(t).RegionRows(); rows != nil {
		t.Errorf("rows without a region: %x", rows)
	}
}

// Rows of another polygon, box or step are not taken, nor rows that were damaged.
func TestRegionRowsOfSomethingElse(t *testing.T) {
	d := mustDomain(t, 39.99, 115.99, 40.01, 116.01, 60)
	region, err := d.WithRegion(t.Context(), holey)
	if err != nil {
		t.Fatal(err)
	}
	rows := region.RegionRows()
	if _, err := d.WithRegionRows(holey, rows); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]*Domain{
		"south": mustDomain(t, 39.991, 115.99, 40.01, 116.01, 60), "west": mustDomain(t, 39.99, 115.991, 40.01, 116.01, 60),
		"north": mustDomain(t, 39.99, 115.99, 40.011, 116.01, 60), "east": mustDomain(t, 39.99, 115.99, 40.01, 116.011, 60),
		"step": mustDomain(t, 39.99, 115.99, 40.01, 116.01, 61),
	} {
		if _, err := other.WithRegionRows(holey, rows); err == nil {
			t.Errorf("taken in spite of another %s", name)
		}
	}
	if _, err := d.WithRegionRows(holey+" ", rows); err == nil {
		t.Error("taken for another text")
	}
	for k := range rows {
		for bit := range 8 {
			damaged := slices.Clone(rows)
			damaged[k] ^= 1 << bit
			if _, err := d.WithRegionRows(holey, damaged); err == nil {
				t.Fatalf("taken with bit %d of byte %d flipped", bit, k)
			}
		}
		if _, err := d.WithRegionRows(holey, rows[:k]); err == nil {
			t.Fatalf("taken with %d of %d bytes", k, len(rows))
		}
	}
	if _, err := d.WithRegionRows(holey, append(rows, 0)); err == nil {
		t.Error("taken with a byte more")
	}
}

// forged are rows with the checksum that they should have.
func forged(d *Domain, wkt string, strips []byte) []byte {
	checksum := crc64.Update(d.regionChecksum(wkt), rowsTable, strips)
	return append(binary.BigEndian.AppendUint64([]byte{rowsVersion}, checksum), strips...)
}

// Strips that are no region are refused, whatever the checksum says.
func TestRegionRowsForged(t *testing.T) {
	d := gridDomain(t)
	const far = "\xfe\xff\xff\xff\x0f" // 2^31 - 1, zigzag
	for name, c := range map[string]struct {
		strips string
		fine   bool
	}{
		"one point":            {"\x00\x00\x00", true},
		"two rows":             {"\x00\x00\x00\x02\x00\x01", true},
		"none":                 {"", false},
		"half a strip":         {"\x00\x00", false},
		"no end":               {"\x00\x00\x80", false},
		"twice":                {"\x00\x00\x00\x00\x00\x00", false},
		"out of order":         {"\x02\x00\x00\x01\x00\x00", false},
		"a row outside":        {far + "\x00\x00", false},
		"a start outside":      {"\x00" + far + "\x00", false},
		"an end outside":       {"\x00\x00\xff\xff\xff\x7f", false},
		"an end beyond 2^31":   {"\x00\x00\xff\xff\xff\xff\x0f", false},
		"an end beyond 2^63":   {"\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		"a number of 11 bytes": {strings.Repeat("\xff", 10) + "\x01\x00\x00", false},
		"a sum beyond 2^63":    {"\x02\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", false},
	} {
		region, err := d.WithRegionRows(holey, forged(d, holey, []byte(c.strips)))
		if (err == nil) != c.fine {
			t.Errorf("%s: %v, %v", name, region, err)
		}
	}
}

func FuzzRegionRows(f *testing.F) {
	d := gridDomain(f)
	for _, wkt := range []string{concave, holey} {
		region, err := d.WithRegion(f.Context(), wkt)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(region.RegionRows()[rowsHeader:])
	}
	f.Add([]byte{})
	f.Add([]byte("\x00\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, strips []byte) {
		if _, err := d.WithRegionRows(concave, strips); err == nil && len(strips) < rowsHeader {
			t.Fatal("taken without a checksum")
		}
		region, err := d.WithRegionRows(concave, forged(d, concave, strips))
		if err != nil {
			return
		}
		admissible := map[Cell]bool{}
		for _, s := range region.region.strips {
			if s.lo > s.hi {
				t.Fatalf("strip %v", s)
			}
			admissible[Cell{int64(s.lo), int64(s.row)}], admissible[Cell{int64(s.hi), int64(s.row)}] = true, true
		}
		for c := range admissible {
			if z := region.Admissible(c); z != c {
				t.Fatalf("%v moves to %v", c, z)
			}
		}
		for _, c := range []Cell{{0, 0}, {saturation, -saturation}} {
			if z := region.Admissible(c); region.Admissible(z) != z {
				t.Fatalf("%v moves to %v, which moves", c, z)
			}
		}
		if again, err := d.WithRegionRows(concave, region.RegionRows()); err != nil || !slices.Equal(again.region.strips, region.region.strips) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
