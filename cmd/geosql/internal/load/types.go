package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
)

// A givenType is the kind that the user gives for a column.
type givenType struct {
	column string
	kind   dataset.Kind
}

// parseType parses COLUMN=TYPE.
func parseType(text string) (givenType, error) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 {
		return givenType{}, errors.New("it must be like kwh=REAL")
	}
	for _, kind := range []dataset.Kind{dataset.Integer, dataset.Real, dataset.Text} {
		if strings.EqualFold(text[i+1:], kind.String()) {
			return givenType{text[:i], kind}, nil
		}
	}
	return givenType{}, errors.New("the type must be INTEGER, REAL or TEXT")
}

// GivenKinds returns the given kinds by the numbers of their columns. Names are those of
// SQLite, in which case does not count.
func GivenKinds(d *cli.DataSet, types []givenType) (map[int]dataset.Kind, error) {
	kinds := make(map[int]dataset.Kind)
	fields := d.Fields()
	for _, t := range types {
		i := slices.IndexFunc(fields, func(f dataset.Field) bool { return strings.EqualFold(f.Name, t.column) })
		if i < 0 {
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			return nil, fmt.Errorf("import: there is no column %s: the file has %s", t.column, strings.Join(names, ", "))
		}
		if _, twice := kinds[i]; twice {
			return nil, cli.UsageError("import: column " + t.column + " is given two types")
		}
		kinds[i] = t.kind
	}
	return kinds, nil
}

// checkHeader returns an error if the first line of a CSV file is more likely a row, so that
// neither a row becomes names nor names a row.
func checkHeader(d *cli.DataSet, file string) error {
	form, csv := dataset.CSVFormOf(d.Reader)
	names, row := infer.ValuesInHeader(d.Fields())
	if !csv || !form.Header || !row {
		return nil
	}
	what := "has only values"
	if len(names) < len(d.Fields()) {
		what = "has the value " + infer.Quote(names[0])
	}
	return fmt.Errorf("%s: the first line %s: say --no-header if it is a row, or --header if it names the columns", file, what)
}
