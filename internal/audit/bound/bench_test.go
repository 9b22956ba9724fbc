package bound

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func BenchmarkLearn(b *testing.B) {
	for _, width := range []int{1, 2, 8, 64} {
		r := rand.New(rand.NewPCG(1, uint64(width)))
		var draws [2][]Outcome
		for input := range draws {
			for range 50_000 {
				o := Outcome{Text: strconv.Itoa(int(geometric(r, 0.1)))}
				for range width {
					o.Values = append(o.Values, float64(input)+r.ExpFloat64()*10)
				}
				draws[input] = append(draws[input], o)
			}
		}
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			for b.Loop() {
				Learn(draws, 1e-9)
			}
		})
	}
}
