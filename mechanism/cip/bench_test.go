package cip

import (
	"fmt"
	"testing"
)

// Length scales up to four times the distance of points.
func BenchmarkLoss(b *testing.B) {
	each(b, func(b *testing.B, p Policy, n int) {
		loss, err := p.Loss(b.Context(), seq(n), 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(loss.Loss, "loss")
	})
}

func BenchmarkSmallestSigma2(b *testing.B) {
	each(b, func(b *testing.B, p Policy, n int) {
		p.Epsilon = one
		sigma2, err := p.SmallestSigma2(b.Context(), seq(n))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(sigma2, "sigma2")
	})
}

func each(b *testing.B, do func(b *testing.B, p Policy, n int)) {
	for _, family := range []string{Singles, "windows:5", EveryOther} {
		for _, n := range []int{10, 50, 100} {
			b.Run(fmt.Sprintf("%s/%d", family, n), func(b *testing.B) {
				p := upTo(base(4), 4)
				p.Family = family
				for b.Loop() {
					do(b, p, n)
				}
			})
		}
	}
}
