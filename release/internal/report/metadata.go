package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/version"
)

// metadata is the form of WriteMetadata in JSON. Every field is of the page's public part, and has its
// unit in its name. The limits of the accounts are not among them: a limit that is just large
// enough says how many locations somebody has.
type metadata struct {
	Format string `json:"format"`
	About
	Generator generator `json:"generator"`
	File      string    `json:"file"`
	SHA256    string    `json:"sha256,omitempty"`
	Also      []Copy    `json:"also,omitempty"`
	Released  time.Time `json:"released"`

	Rows        int64             `json:"rows"`
	SetAside    bool              `json:"invalid_rows_may_be_left_out"`
	Weight      string            `json:"rows_repeated_by_column,omitempty"`
	MaxRows     int               `json:"most_rows_of_an_account,omitempty"`
	Dropped     *int64            `json:"rows_left_out_beyond_it,omitempty"`
	Locations   []metadataColumns `json:"locations"`
	Kept        []string          `json:"columns_copied"`
	Escaped     bool              `json:"formulas_escaped"`
	Method      metadataMethod    `json:"method"`
	Domain      metadataDomain    `json:"domain"`
	Charge      metadataCharge    `json:"charge"`
	Accuracy    metadataAccuracy  `json:"accuracy"`
	Density     *metadataDensity  `json:"density,omitempty"`
	Bounds      []metadataBound   `json:"epsilon_delta_of_one_location,omitempty"`
	Meaning     []string          `json:"meaning"`
	NotPromised []string          `json:"not_promised"`
	Citation    []citation        `json:"citation"`
}

type generator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type metadataColumns struct {
	Lat     string `json:"lat"`
	Lon     string `json:"lon"`
	Count   int64  `json:"released"`
	Without int64  `json:"rows_without"`
}

type metadataMethod struct {
	Mechanism string  `json:"mechanism"`
	Name      string  `json:"name"`
	Epsilon   float64 `json:"epsilon"`
	Unit      string  `json:"epsilon_per"`
	Level     float64 `json:"level,omitempty"`
	Radius    float64 `json:"level_within_m,omitempty"`
}

type metadataDomain struct {
	South  float64 `json:"south"`
	West   float64 `json:"west"`
	North  float64 `json:"north"`
	East   float64 `json:"east"`
	Step   float64 `json:"step_m"`
	Region bool    `json:"moved_into_a_region"`
	Frame  string  `json:"coordinates"`
}

// metadataBound says that each set of outputs is at most exp(epsilon) times as likely, plus delta, from one true location as from
// another at the distance.
type metadataBound struct {
	Distance float64 `json:"distance_m"`
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
}

type metadataCharge struct {
	Each       float64 `json:"epsilon_per_location"`
	Total      float64 `json:"epsilon_of_all_locations"`
	OneAccount bool    `json:"all_to_one_account"`
}

type metadataAccuracy struct {
	Mean   float64 `json:"expected_error_m"`
	Within float64 `json:"error_of_95_percent_m"`
}

type metadataDensity struct {
	File string  `json:"file"`
	Cell float64 `json:"cell_m"`
}

type citation struct {
	Authors string `json:"authors"`
	Title   string `json:"title"`
	In      string `json:"in"`
	Year    int    `json:"year"`
	DOI     string `json:"doi,omitempty"`
}

// citations are where the promise and the mechanisms come from.
var citations = []citation{
	{"Miguel E. Andrés, Nicolás E. Bordenabe, Konstantinos Chatzikokolakis, Catuscia Palamidessi",
		"Geo-Indistinguishability: Differential Privacy for Location-Based Systems",
		"Proceedings of the 20th ACM Conference on Computer and Communications Security, pages 901-914", 2013, "10.1145/2508859.2516735"},
	{"Nicolás E. Bordenabe", "Measuring Privacy with Distinguishability Metrics: Definitions, Mechanisms and Application to Location Privacy",
		"PhD thesis, École Polytechnique", 2014, ""},
}

// gaussCitations are where those of Gaussian noise come from.
var gaussCitations = []citation{
	{"Clément L. Canonne, Gautam Kamath, Thomas Steinke", "The Discrete Gaussian for Differential Privacy",
		"NeurIPS 33", 2020, ""},
	{"Borja Balle, Yu-Xiang Wang", "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising",
		"Proceedings of the 35th International Conference on Machine Learning", 2018, ""},
	{"Adam Smith, Abhradeep Thakurta", "Fully Adaptive Composition for Gaussian Differential Privacy", "arXiv 2210.17520", 2022, ""},
}

// WriteMetadata writes the public facts of a release as JSON, in UTF-8. It depends only on
// its arguments, and writes nothing if they are invalid.
func WriteMetadata(w io.Writer, p Public) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(newMetadata(p))
}

func newMetadata(p Public) metadata {
	m := metadata{
		Format: "geosql release 1", About: p.About, Generator: generator{"geosql", version.Version},
		File: p.Output, SHA256: p.SHA256, Also: p.Also, Released: p.Time.UTC().Truncate(time.Second),
		Rows: p.Rows, Weight: p.Weight, SetAside: p.SetAside, Kept: append([]string{}, p.Kept...), Escaped: p.EscapedFormulas,
		Method:   metadataMethod{p.Mechanism, p.Law.String(), p.Epsilon, string(p.Law.Unit()), p.Level, p.Radius},
		Domain:   metadataDomain{p.Box.South, p.Box.West, p.Box.North, p.Box.East, p.Step, p.Region, "degrees of WGS 84 (EPSG:4326)"},
		Charge:   metadataCharge{p.Epsilon, 0, p.OneAccount},
		Accuracy: metadataAccuracy{decimal.Round(p.MeanError, 4), decimal.Round(p.Error95, 4)},
		Meaning:  p.meaning(), NotPromised: p.notPromised(), Citation: citations,
	}
	if p.Density != "" {
		m.Density = &metadataDensity{p.Density, p.DensityCell}
	}
	if p.MaxRows > 0 {
		m.MaxRows, m.Dropped = p.MaxRows, &p.Dropped
	}
	var all int64
	for _, l := range p.Locations {
		n := l.Released.Total()
		m.Locations = append(m.Locations, metadataColumns{l.Lat, l.Lon, n, p.Rows - n})
		all += n
	}
	m.Charge.Total = decimal.Round(float64(all)*p.Epsilon, 15) // all that a float64 has
	if g := promised(&p); g.gauss {
		m.Citation = gaussCitations
		for _, d := range g.distances(0) {
			m.Bounds = append(m.Bounds, metadataBound{d, g.exponent(d, 1), aside})
		}
	}
	return m
}

// meaning returns the promise in sentences.
func (p *Public) meaning() []string {
	g := promised(p)
	at := g.at(g.example(p.Radius), 1)
	if g.gauss {
		return plainSpaces(
			"Each location was drawn at random around the true one; the noise is not recorded anywhere.",
			"epsilon is a rho per square metre: for every order a > 1, the Rényi divergence between the published locations of two true ones d metres apart, in metres along the WGS 84 ellipsoid, is at most a * epsilon * (d + sqrt(2) * step_m)^2.",
			fmt.Sprintf("For two places %s apart, any set of points on the map is at most %s times as likely to have the published location, plus a probability of %s.", at.Distance, at.Factor, plainly(aside)),
			"Several locations of one account, and later releases about it, add up: n locations have n * epsilon in place of epsilon.",
		)
	}
	return plainSpaces(
		"Each location was drawn at random around the true one; the noise is not recorded anywhere.",
		"Any published location is at most exp(epsilon * (d + sqrt(2) * step_m)) times as likely from one true location as from another d metres away, in metres along the WGS 84 ellipsoid.",
		fmt.Sprintf("For two places %s apart that is at most %s times: to somebody who thought both equally likely, neither is more than %s likely afterwards.", at.Distance, at.Factor, at.Share),
		"Several locations of one account, and later releases about it, add up: n locations have n * epsilon in place of epsilon.",
	)
}

// notPromised returns the limits of the promise in sentences.
func (p *Public) notPromised() []string {
	all := []string{
		"The number of rows, their order and which rows have no location are as in the original and count as public.",
		"Locations outside the domain were moved to its border first; for them the promise holds between the places on the border.",
		"The general area is not hidden: places far apart may be told apart.",
	}
	if p.Weight != "" {
		all = append(all, "How many rows a row of the original became is public; these are drawn around one place, and add up as locations of one account do.")
	}
	if len(p.Kept) > 0 {
		all = append([]string{"The columns that were copied are not protected."}, all...)
	}
	return plainSpaces(all...)
}

// plainSpaces replaces the spaces that keep a number and its unit on one line of a page.
func plainSpaces(sentences ...string) []string {
	for i, s := range sentences {
		sentences[i] = strings.ReplaceAll(s, noBreak, " ")
	}
	return sentences
}
