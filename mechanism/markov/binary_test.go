package markov

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// theDomain is a catalogue with all the domains of the tests.
func theDomain(name string) (*planar.Domain, error) {
	for _, g := range grids {
		if g.domain.Name() == name {
			return g.domain, nil
		}
	}
	return nil, errors.New("no such domain")
}

// A model returns from its binary form as it was, and behaves as it did.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		m := train(t, g, period, drawPoints(t, g))
		data := must(m.AppendBinary([]byte("before")))
		got, err := ParseModel(data[len("before"):], theDomain)
		if err != nil {
			t.Fatal(err)
		}
		if got.Info() != m.Info() || got.Period() != m.Period() || *got.Grid() != *g {
			t.Fatalf("%+v returns as %+v", m.Info(), got.Info())
		}
		if err := differ(got.Start(), m.Start(), 0); err != nil {
			t.Fatal(err)
		}
		a, b := make([]float64, g.Len()), make([]float64, g.Len())
		got.Advance(a, m.Start())
		m.Advance(b, m.Start())
		if err := differ(a, b, 0); err != nil {
			t.Fatal(err)
		}
	})
}

// goldenModel is the model that TestBinaryGolden trains: version; "town"; cells of 1500 m; 60
// seconds; 7 by 9 cells; 2 traces; 3 rows: cell 8 with 2 visits and two moves, 1 to
// itself and 1 to cell 9; cell 9, the next, with 1 visit and 1 move to cell 62; cell
// 62, with 2 visits and none.
const goldenModel = "01" + "04" + "746f776e" + "4097700000000000" + "808ece1c" + "0709" + "02" +
	"03" + "0801" + "02" + "0000" + "0000" + "0000" + "01" + "6a00" + "3401" + "00"

func goldenPoints() []point {
	const minute = int64(time.Minute / time.Microsecond)
	return []point{{"a", 0, 8}, {"a", minute, 8}, {"a", 2 * minute, 9}, {"a", 3 * minute, 62}, {"b", 0, 62}}
}

// The form is fixed: models are stored.
func TestBinaryGolden(t *testing.T) {
	m := train(t, grids["town"], period, goldenPoints())
	if got := hex.EncodeToString(must(m.AppendBinary(nil))); got != goldenModel {
		t.Errorf("got  %s\nwant %s", got, goldenModel)
	}
}

// form writes a binary form by hand, sound or not, over the town's grid.
type form struct {
	period, width, height, traces uint64
	rows                          []uint64
}

func (f form) bytes() []byte {
	b := append([]byte{formatVersion, 4}, "town"...)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1500))
	for _, v := range append([]uint64{f.period, f.width, f.height, f.traces}, f.rows...) {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// zigzag is how a varint with a sign is written.
func zigzag(v int64) uint64 { return uint64(v<<1 ^ v>>63) }

// A model that is cut short, lengthened, of another version or not plausible is refused.
func TestParseModelRefuses(t *testing.T) {
	golden := must(hex.DecodeString(goldenModel))
	broken := [][]byte{nil, append(bytes.Clone(golden), 0), append([]byte{2}, golden[1:]...)}
	for n := range golden {
		broken = append(broken, golden[:n])
	}
	sound := form{period: 60_000_000, width: 7, height: 9, traces: 1, rows: []uint64{1, 62, 1, 1, zigzag(0), 0}}
	if _, err := ParseModel(sound.bytes(), theDomain); err != nil {
		t.Fatalf("one cell with two visits and one transition: %v", err)
	}
	for _, change := range []func(*form){
		func(f *form) { f.period = 0 },
		func(f *form) { f.period = math.MaxInt64/1000 + 1 },
		func(f *form) { f.traces = 0 },
		func(f *form) { f.traces = 2 }, // with one visit that no transition enters
		func(f *form) { f.traces = math.MaxUint64 },
		func(f *form) { f.rows = []uint64{0} },
		func(f *form) { f.rows = []uint64{1, 63, 1, 0} },
		func(f *form) { f.rows = []uint64{1, math.MaxUint64, 1, 0} },
		func(f *form) { f.rows = []uint64{2, 62, 1, 0, 0, 1, 0} },
		func(f *form) { f.rows = []uint64{1, 62, math.MaxUint32, 0} },
		func(f *form) { f.rows = []uint64{1, 62, 1, 1, zigzag(1), 0} },
		func(f *form) { f.rows = []uint64{1, 62, 1, 1, zigzag(-63), 0} },
		func(f *form) { f.rows = []uint64{1, 62, 1, 1, zigzag(math.MaxInt64), 0} },
		func(f *form) { f.rows = []uint64{1, 62, 1, 1, zigzag(math.MinInt64), 0} },
		func(f *form) { f.rows = []uint64{1, 62, 1, 1, zigzag(-1), 0} },            // to where nobody was
		func(f *form) { f.rows = []uint64{2, 0, 0, 1, zigzag(1), 1, 0, 4, 0} },     // more departures than visits
		func(f *form) { f.rows = []uint64{2, 0, 2, 1, zigzag(1), 1, 0, 0, 0} },     // more arrivals than visits
		func(f *form) { f.rows = []uint64{1, 0, 2, 2, zigzag(0), 0, 62, 0, 0} },    // the second move is off the grid
		func(f *form) { f.rows = []uint64{1, 62, 1, 2, zigzag(0), 0, 0, 0, 0, 0} }, // so is this
	} {
		f := sound
		change(&f)
		broken = append(broken, f.bytes())
	}
	for _, data := range broken {
		if _, err := ParseModel(data, theDomain); err != errForm {
			t.Errorf("%x: error %v", data, err)
		}
	}
	// The last number again, two bytes long.
	long := append(bytes.Clone(golden[:len(golden)-1]), 0x80, 0)
	if _, err := ParseModel(long, theDomain); err != errForm {
		t.Errorf("a second form of one model: error %v", err)
	}
}

func TestParseModelNames(t *testing.T) {
	golden := must(hex.DecodeString(goldenModel))
	other := func(d *planar.Domain, err error) func(string) (*planar.Domain, error) {
		return func(string) (*planar.Domain, error) { return d, err }
	}
	smaller := must(planar.NewDomain("town", 39.9, 116.35, 39.95, 116.45, 10))
	coarser := must(planar.NewDomain("town", 39.9, 116.35, 40, 116.45, 40))
	renamed := must(planar.NewDomain("city", 39.9, 116.35, 40, 116.45, 10))
	for want, domain := range map[string]func(string) (*planar.Domain, error){
		"gone":                               other(nil, errors.New("gone")),
		"7 x 9 cells, domain town has":       other(smaller, nil),
		"cell_m must be a whole multiple":    other(coarser, nil),
		"not the binary form of a Markov mo": other(renamed, nil),
	} {
		if _, err := ParseModel(golden, domain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Data that claim large numbers take memory only for their length.
func TestParseModelMemory(t *testing.T) {
	base := form{period: 1, width: 7, height: 9, traces: 1}
	var worst uint64
	for _, rows := range [][]uint64{{63}, {1, 0, math.MaxUint32 - 1, 63}, {63, 0, math.MaxUint32 - 1, 63, zigzag(0), math.MaxUint32 - 1}} {
		f := base
		f.rows = rows
		data := f.bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ParseModel(data, theDomain); err != errForm {
			t.Errorf("%x: error %v", data, err)
		}
		runtime.ReadMemStats(&after)
		worst = max(worst, after.TotalAlloc-before.TotalAlloc)
	}
	name := append([]byte{formatVersion}, binary.AppendUvarint(nil, math.MaxUint64)...)
	if _, err := ParseModel(name, theDomain); err != errForm {
		t.Errorf("a long name: error %v", err)
	}
	if worst > 64<<10 {
		t.Errorf("%d bytes", worst)
	}
}

// FuzzParseModel looks for bytes that are accepted and are not the one form of a
// model, and for accepted models that are no Markov chain.
func FuzzParseModel(f *testing.F) {
	f.Add(must(hex.DecodeString(goldenModel)))
	f.Add(form{period: 60_000_000, width: 7, height: 9, traces: 1, rows: []uint64{1, 62, 1, 1, zigzag(0), 0}}.bytes())
	f.Add(form{period: 1, width: 7, height: 9, traces: 1, rows: []uint64{1, 0, math.MaxUint32 - 1, 0}}.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseModel(data, theDomain)
		if err != nil {
			return
		}
		if again := must(m.AppendBinary(nil)); !bytes.Equal(again, data) {
			t.Fatalf("%x is also %x", again, data)
		}
		belief, next := m.Start(), make([]float64, m.Grid().Len())
		for range 3 {
			if s := total(belief); !(math.Abs(s-1) <= 1e-12) {
				t.Fatalf("%+v: the sum is %v", m.Info(), s)
			}
			m.Advance(next, belief)
			belief, next = next, belief
		}
	})
}
