package markov

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/mechanism/planar"
)

// geoLife calls visit with every fix of the GeoLife extract, times in microseconds.
func geoLife(t *testing.T, visit func(user, trace string, at int64, lat, lon float64)) {
	t.Helper()
	file, err := os.Open(need.Data(t, "geolife/points.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := csv.NewReader(must(gzip.NewReader(file)))
	must(rows.Read())
	for {
		row, err := rows.Read()
		if err != nil {
			return
		}
		at := must(strconv.ParseInt(row[2], 10, 64))
		visit(row[0], row[1], at*1_000_000, must(strconv.ParseFloat(row[3], 64)), must(strconv.ParseFloat(row[4], 64)))
	}
}

// A model of half of the traces of Beijing tells the moves of the other half better
// than the neighbourhood alone does: by more than a nat per move, with 500 m
// cells and minutes. Nothing here is random.
func TestGeoLife(t *testing.T) {
	d := must(planar.NewDomain("beijing", 39.8, 116.2, 40.1, 116.5, 10))
	g := must(NewGrid(d, 500))
	halves := [2]*Trainer{NewTrainer(g, time.Minute), NewTrainer(g, time.Minute)}
	half := map[string]int{}
	geoLife(t, func(user, trace string, at int64, lat, lon float64) {
		if d.Outside(lat, lon) {
			return
		}
		key := user + "/" + trace
		if _, known := half[key]; !known {
			half[key] = len(half) % 2
		}
		halves[half[key]].Add(key, at, lat, lon)
	})
	trained, held := must(halves[0].Model()), must(halves[1].Model())
	untrained := newModel(g, time.Minute, 0, nil, nil)
	data := must(trained.AppendBinary(nil))
	t.Logf("%+v, %d bytes", trained.Info(), len(data))

	gain, moves, begin := 0.0, 0.0, 0
	with, without := make([]float64, g.Len()), make([]float64, g.Len())
	for _, r := range held.rows {
		src := unit(g.Len(), int(r.cell))
		trained.Advance(with, src)
		untrained.Advance(without, src)
		for _, v := range held.moves[begin:r.end] {
			gain += float64(v.count) * math.Log(with[v.cell]/without[v.cell])
			moves += float64(v.count)
		}
		begin = r.end
	}
	t.Logf("%.3f nats per move, over %v moves", gain/moves, moves)
	if !(gain > moves) {
		t.Errorf("a gain of %v nats over %v moves", gain, moves)
	}
}
