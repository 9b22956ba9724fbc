package scalar

import (
	"bufio"
	"compress/gzip"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

// The half-hourly meter readings of the Smart-Grid Smart-City trial: three decimals of
// a kWh each, summed here as integers.
func TestMeterReadings(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	one := big.NewRat(1, 1)
	total := query(t, Sum, u, budget.D1, one, nil)
	largest := query(t, Max, u, budget.D1, one, nil)
	var sum, most Accumulator
	var july []int64
	var julyReadings []float64
	rows := 0
	forEachMeterReading(t, func(time, kwh string) {
		rows++
		x, err := strconv.ParseFloat(kwh, 64)
		if err != nil {
			t.Fatal(err)
		}
		k := u.Index(x)
		if wh := wattHours(t, kwh); k != wh || u.Value(k) != x {
			t.Fatalf("reading %s has index %d and value %v", kwh, k, u.Value(k))
		}
		if strings.HasPrefix(time, "2013-07-") {
			july = append(july, k)
			julyReadings = append(julyReadings, x)
			total.Add(&sum, x)
			largest.Add(&most, x)
		}
	})
	if rows != 932_215 || len(july) != 77_821 {
		t.Fatalf("read %d rows, %d in July", rows, len(july))
	}
	if got := total.lattice.number(total.answer(&sum)); got != 20748.121 {
		t.Errorf("July's total is %v kWh, want 20748.121", got)
	}
	if got := largest.lattice.number(largest.answer(&most)); got != 4.217 {
		t.Errorf("July's largest reading is %v kWh, want 4.217", got)
	}
	slices.Sort(july)
	// The published percentiles are nearest-rank, ceil(p*m/100): the same rank here,
	// as p*m/100 is a whole number for none of them.
	for p, want := range map[int64]float64{5: 0, 25: 0.034, 50: 0.079, 75: 0.342, 95: 1.155, 99: 2.049} {
		q := query(t, Percentile, u, budget.D1, one, big.NewRat(p, 1))
		got := q.lattice.number(q.answer(collect(q, julyReadings)))
		rank := min(int64(len(july)), p*int64(len(july))/100+1)
		if got != want || got != u.Value(july[rank-1]) {
			t.Errorf("July's percentile %d is %v kWh, want %v, sorted %v", p, got, want, u.Value(july[rank-1]))
		}
	}
}

// wattHours reads a decimal of kWh with up to three decimals without floats.
func wattHours(t *testing.T, kwh string) int64 {
	whole, thousandths, _ := strings.Cut(kwh, ".")
	n, err := strconv.ParseInt(whole+(thousandths + "000")[:3], 10, 64)
	if err != nil || len(thousandths) > 3 {
		t.Fatalf("reading %q has more than three decimals", kwh)
	}
	return n
}

func forEachMeterReading(t *testing.T, visit func(time, kwh string)) {
	t.Helper()
	forEachMeterRow(t, func(_, time, kwh string) { visit(time, kwh) })
}

func forEachMeterRow(t *testing.T, visit func(home, time, kwh string)) {
	t.Helper()
	dir := os.Getenv("GEOSQL_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "meters_sgsc", "readings.csv.gz"))
	if err != nil {
		t.Skipf("no meter readings (set GEOSQL_DATA): %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		visit(fields[0], fields[1], fields[2])
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// forEachHomeDay visits the readings of the meters with the home and the day of each.
func forEachHomeDay(t *testing.T, visit func(day string, kwh float64)) {
	t.Helper()
	forEachMeterRow(t, func(home, time, kwh string) {
		x, err := strconv.ParseFloat(kwh, 64)
		if err != nil {
			t.Fatal(err)
		}
		visit(home+" "+time[:10], x)
	})
}

// quantileOf returns the value below which a share p of the values is, which it sorts.
func quantileOf(values []float64, p float64) float64 {
	slices.Sort(values)
	return values[int(p*float64(len(values)))]
}
