// Command google measures the aggregates of Google's differential privacy library for Go. It is built
// in a module of its own, where a checkout of the library is:
//
//	google sum|avg|count ROWS ACCOUNTS
//
// With accounts it keeps what each contributes in a map, since the library asks its caller to bound that. It writes seconds to standard output, as the processes of go run ./internal/benchmarks.
package main

import (
	"fmt"
	"log"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/google/differential-privacy/go/v4/dpagg"
)

const (
	epsilon = 0.01
	turns   = 10
)

// aggregates take values over accounts, in turn, and have a result. Without accounts each value is all that
// somebody contributes.
var aggregates = map[string]func(values []float64, accounts []string) error{"sum": sum, "avg": mean, "count": count}

// rowsOf returns how many of n rows an account has at most.
func rowsOf(n int, accounts []string) int64 {
	if len(accounts) == 0 {
		return 1
	}
	return int64((n + len(accounts) - 1) / len(accounts))
}

// sum adds up what each account has, if there are accounts, as the library asks of its caller.
func sum(values []float64, accounts []string) error {
	s, err := dpagg.NewBoundedSumFloat64(&dpagg.BoundedSumFloat64Options{Epsilon: epsilon, MaxPartitionsContributed: 1, Upper: 10 * float64(rowsOf(len(values), accounts))})
	if err != nil {
		return err
	}
	if len(accounts) > 0 {
		totals := map[string]float64{}
		for i, x := range values {
			totals[accounts[i%len(accounts)]] += min(max(x, 0), 10)
		}
		values = slices.Collect(maps.Values(totals))
	}
	for _, x := range values {
		if err := s.Add(x); err != nil {
			return err
		}
	}
	_, err = s.Result()
	return err
}

func mean(values []float64, accounts []string) error {
	most := rowsOf(len(values), accounts)
	m, err := dpagg.NewBoundedMean(&dpagg.BoundedMeanOptions{Epsilon: epsilon, MaxPartitionsContributed: 1, MaxContributionsPerPartition: most, Upper: 10})
	if err != nil {
		return err
	}
	rows := map[string]int64{}
	for i, x := range values {
		if len(accounts) > 0 {
			account := accounts[i%len(accounts)]
			if rows[account] == most {
				continue
			}
			rows[account]++
		}
		if err := m.Add(x); err != nil {
			return err
		}
	}
	_, err = m.Result()
	return err
}

// count counts rows, or adds up how many each account has: the library's Count is for one row of each.
func count(values []float64, accounts []string) error {
	if len(accounts) == 0 {
		c, err := dpagg.NewCount(&dpagg.CountOptions{Epsilon: epsilon, MaxPartitionsContributed: 1})
		if err != nil {
			return err
		}
		for range values {
			if err := c.Increment(); err != nil {
				return err
			}
		}
		_, err = c.Result()
		return err
	}
	s, err := dpagg.NewBoundedSumInt64(&dpagg.BoundedSumInt64Options{Epsilon: epsilon, MaxPartitionsContributed: 1, Upper: rowsOf(len(values), accounts)})
	if err != nil {
		return err
	}
	rows := map[string]int64{}
	for i := range values {
		rows[accounts[i%len(accounts)]]++
	}
	for _, n := range rows {
		if err := s.Add(n); err != nil {
			return err
		}
	}
	_, err = s.Result()
	return err
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: google sum|avg|count ROWS ACCOUNTS")
	}
	rows, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	people, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	values := make([]float64, rows)
	for i := range values {
		values[i] = float64(i%3000) * 0.001
	}
	accounts := make([]string, people)
	for i := range accounts {
		accounts[i] = fmt.Sprint("account", i)
	}
	aggregate, ok := aggregates[os.Args[1]]
	if !ok {
		log.Fatalf("there is no aggregate %q", os.Args[1])
	}
	best := math.Inf(1)
	for range turns {
		start := time.Now()
		if err := aggregate(values, accounts); err != nil {
			log.Fatal(err)
		}
		best = min(best, time.Since(start).Seconds())
	}
	fmt.Printf(`{"seconds": %g}`+"\n", best)
}
