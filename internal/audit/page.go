package audit

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/version"
)

//go:embed page.tmpl
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"short":    func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) },
		"count":    decimal.Grouped,
		"duration": func(seconds float64) string { return (time.Duration(seconds) * time.Second).String() },
		"bar":      newBar,
		"version":  func() string { return "geosql " + version.Version },
	}).Parse(pageText))
})

// WritePage writes the report as an HTML page, which needs no other file and runs no script. Errors are those of w.
func (r *Report) WritePage(w io.Writer) error { return pageTemplate().Execute(w, r) }

// A bar shows a lower bound beside the charge, which ends at 100 of 150.
type bar struct {
	Width    float64
	Violated bool
	Label    string
}

// newBar returns the bar of a bound, cut where it would be wider than the picture.
func newBar(lower, charged float64, verdict Verdict) bar {
	share := 0.
	if charged > 0 {
		share = lower / charged
	}
	return bar{min(150, 100*share), verdict == Violated, fmt.Sprintf("%.1f %%", 100*share)}
}
