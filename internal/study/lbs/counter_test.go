package lbs

import (
	"reflect"
	"testing"
)

func TestCount(t *testing.T) {
	c := counter{radii: []float64{10, 20, 15}}
	of := make([]int64, 3)
	for _, distance := range []float64{0, 10, 10.001, 15, 19.999, 20, 20.001} {
		c.count(of, distance)
	}
	if want := []int64{2, 6, 4}; !reflect.DeepEqual(of, want) {
		t.Errorf("%v, not %v", of, want)
	}
}

func TestMerge(t *testing.T) {
	radii := []float64{10, 20}
	a := counter{radii: radii, reports: 1, interest: 2, contained: []int64{3, 4}, found: []int64{5, 6}, fetched: []int64{7, 8}, overheads: [][]float64{{1}, {2, 3}}}
	b := counter{radii: radii, reports: 10, interest: 20, contained: []int64{30, 40}, found: []int64{50, 60}, fetched: []int64{70, 80}, overheads: [][]float64{{4}, nil}}
	a.merge(&b)
	want := counter{radii: radii, reports: 11, interest: 22, contained: []int64{33, 44}, found: []int64{55, 66}, fetched: []int64{77, 88}, overheads: [][]float64{{1, 4}, {2, 3}}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v, not %+v", a, want)
	}
}
