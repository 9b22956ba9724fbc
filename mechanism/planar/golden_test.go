package planar

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// geodesics is a golden file that tests of sqlitefn use too.
const geodesics = "../../testdata/geodesics.csv"

// readGolden reads the numbers of a golden file: '#' starts a comment, the first line
// after it is a header.
func readGolden(t *testing.T, path string) [][]float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows [][]float64
	header := true
	for lines := bufio.NewScanner(file); lines.Scan(); {
		switch {
		case strings.HasPrefix(lines.Text(), "#"):
			continue
		case header:
			header = false
			continue
		}
		var row []float64
		for field := range strings.SplitSeq(lines.Text(), ",") {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

func mustDomain(t testing.TB, south, west, north, east, step float64) *Domain {
	t.Helper()
	d, err := NewDomain("test", south, west, north, east, step)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
