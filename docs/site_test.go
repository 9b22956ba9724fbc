// Package docs tests the pages and the site that is made of them.
package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
)

// folder is where the site is built, in a folder of its own.
var folder string

// build makes the site, once.
var build = sync.OnceValue(func() error {
	out, err := exec.Command("make", "-C", "..", "site", "BUILD="+folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make site: %w\n%s", err, out)
	}
	return nil
})

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "site"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(folder)
	devicetest.Remove()
	os.Exit(status)
}

// site returns the folder of the site.
func site(t *testing.T) string {
	t.Helper()
	need.Programs(t, "make", "node")
	need.File(t, ".vitepress/node_modules", "make site")
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "site")
}

var (
	references = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	anchors    = regexp.MustCompile(`\sid="([^"]*)"`)
	scripts    = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)
)

// dead returns the links of the pages of a folder that lead nowhere in it, and the number of links
// that lead somewhere. Links to other hosts count as neither, but nothing may be loaded from there.
func dead(folder string) (faults []string, alive int, err error) {
	pages := map[string]string{}
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := os.ReadFile(name)
		pages[name] = scripts.ReplaceAllStringFunc(string(text), func(script string) string {
			return script[:strings.Index(script, ">")+1]
		})
		return err
	})
	ids := map[string]map[string]bool{}
	for name, text := range pages {
		ids[name] = map[string]bool{}
		for _, id := range anchors.FindAllStringSubmatch(text, -1) {
			ids[name][html.UnescapeString(id[1])] = true
		}
	}
	for name, text := range pages {
		page, _ := filepath.Rel(folder, name)
		for _, match := range references.FindAllStringSubmatch(text, -1) {
			link, parseErr := url.Parse(html.UnescapeString(match[1]))
			switch {
			case parseErr != nil:
				faults = append(faults, fmt.Sprintf("%s: %v", page, parseErr))
				continue
			case link.Scheme == "data" || page == "404.html":
				continue
			case link.Host != "":
				if strings.HasPrefix(strings.TrimSpace(match[0]), "src") {
					faults = append(faults, fmt.Sprintf("%s loads %s", page, link))
				}
				continue
			}
			target := filepath.Join(filepath.Dir(name), link.Path)
			if link.Path == "" {
				target = name
			} else if strings.HasSuffix(link.Path, "/") {
				target = filepath.Join(target, "index.html")
			}
			_, statErr := os.Stat(target)
			if statErr != nil || path.IsAbs(link.Path) || link.Fragment != "" && !ids[target][link.Fragment] {
				faults = append(faults, fmt.Sprintf("%s links to %s", page, link))
				continue
			}
			alive++
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults), alive, err
}

// Every link between pages leads to a page that is there, and to a heading that it has. Links are
// relative, so that the site can lie anywhere.
func TestLinks(t *testing.T) {
	faults, alive, err := dead(site(t))
	if err != nil || alive < 1000 {
		t.Fatalf("%d links, %v", alive, err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// The faults that the test of the links finds.
func TestDeadLinksAreFound(t *testing.T) {
	folder := t.TempDir()
	page := `<a href="./other.html#there"></a><a href="./other.html#nowhere"></a><a href="./missing.html"></a>
<a href="/other.html"></a><a href="https://example.org/"></a><img src="https://example.org/a.png"><p id="there">`
	for _, name := range []string{"index.html", "other.html"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults, alive, err := dead(folder)
	if err != nil || len(faults) != 8 || alive != 2 {
		t.Errorf("%d links, faults %q, %v", alive, faults, err)
	}
}

// policy forbids a browser to load anything from another host. A load that a page tries from there
// is reported to the console.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"

// serve serves a folder below a path and returns the address of the folder.
func serve(t *testing.T, folder, under string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(under, http.StripPrefix(strings.TrimSuffix(under, "/"), http.FileServer(http.Dir(folder))))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + under
}

// open shows a page of the site, and waits until its scripts have taken it over.
func open(b *browser.Browser, url string) {
	b.T.Helper()
	b.Open(url, `document.querySelector("#app")?.__vue_app__`)
}

// searches are words and the pages that a search for them has to find first.
const searches = `{
	"how much noise": "questions.html#how-much-noise", "group by": "questions.html#how-do-i-group-by", "timezone": "questions.html#which-time-zone",
	"how many people": "questions.html#how-many-people", "delete a person": "questions.html#how-do-i-delete", "budget is empty": "questions.html#the-budget-is-empty",
	"kettle": "first-answer-meters.html", "antimeridian": "reference/declared.html", "geoind_epsilon_for": "reference/free.html#geoind_epsilon_for"}`

// A reader opens pages, follows a link, and searches, under a path that the site was not
// built for. Nothing is loaded from another host.
func TestAReaderOfTheSite(t *testing.T) {
	folder := site(t)
	var pages []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".html" && entry.Name() != "404.html" {
			name, err = filepath.Rel(folder, name)
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 40 {
		t.Fatalf("pages %q, %v", pages, err)
	}
	address := serve(t, folder, "/some/where/")
	origin := strings.TrimSuffix(address, "/some/where/")
	b := browser.New(t)
	b.Size(1280, 720, "light")
	for _, page := range trials.Some(t, 12, pages...) {
		open(b, address+page)
		var faults []string
		b.Eval(structure, &faults)
		for _, fault := range faults {
			t.Error(fault)
		}
		if b.Check(origin); t.Failed() {
			t.Fatalf("%s has faults", page)
		}
	}
	open(b, address+"index.html")
	b.Click("main a[href$='threat-model.html']")
	b.Until(`location.pathname.endsWith("/threat-model.html") && document.querySelector("h1")?.textContent.startsWith("Threat model")`)
	b.Click("button.DocSearch-Button")
	b.Until(`document.querySelector(".VPLocalSearchBox input")`)
	var wanted map[string]string
	if err := json.Unmarshal([]byte(searches), &wanted); err != nil {
		t.Fatal(err)
	}
	search := func(words string) {
		b.Press("Ctrl+a")
		b.Write(words)
		b.Until(fmt.Sprintf(`document.querySelector(".VPLocalSearchBox a.result")?.href.startsWith(%q)`, address+wanted[words]))
	}
	for words := range wanted {
		search(words)
	}
	search("geoind_epsilon_for")
	b.Click(".VPLocalSearchBox a.result")
	b.Until(`location.hash === "#geoind_epsilon_for" && document.querySelector(location.hash)?.textContent.startsWith("geoind_epsilon_for")`)
	b.Check(origin)
}

// The filter leaves the functions that have all words, with their headings and no others, says how many, and is used with the keyboard.
func TestFunctionsAreFiltered(t *testing.T) {
	address := serve(t, site(t), "/some/where/")
	b := browser.New(t)
	b.Size(1280, 720, "light")
	open(b, address+"reference.html")
	b.Until(`/^(\d\d+) of \1$/.test(document.querySelector("main output")?.textContent)`)
	all := b.Text(`document.querySelector("main output").textContent`)
	b.Eval(`document.querySelector("main label input").focus()`, nil)
	for _, c := range []struct{ words, names, sections string }{
		{"Sealed MEDIAN", "dx_median", "over-sealed-values"},
		{"median nothing", "", ""},
		{"_within", "dx_within dx_rank_within", "free-on-public-arguments"},
	} {
		b.Press("Ctrl+a")
		b.Write(c.words)
		names := strings.Fields(c.names)
		b.Until(fmt.Sprintf(`document.querySelector("main output").textContent.startsWith("%d of ")`, len(names)))
		var found struct{ Names, Sections string }
		b.Eval(`(() => {
  const shown = selector => [...document.querySelectorAll("main .vp-doc " + selector)].filter(e => e.checkVisibility());
  return {Names: shown("li").map(e => e.textContent.match(/\w+/)[0]).join(" "), Sections: shown("h2:not(#rules-of-all-functions)").map(e => e.id).join()};
})()`, &found)
		if found.Names != c.names || found.Sections != c.sections {
			t.Errorf("%q leaves %q of %q", c.words, found.Names, found.Sections)
		}
	}
	b.Press("Escape")
	b.Until(fmt.Sprintf(`document.querySelector("main output").textContent === %q`, all))
	b.Write("sealed median")
	b.Press("Tab")
	b.Until(`document.activeElement.parentElement.id === "over-sealed-values"`)
	b.Eval(`document.querySelector("main label input").focus()`, nil)
	b.Press("Enter")
	b.Until(`location.pathname.endsWith("/reference/sealed.html") && location.hash === "#dx_median" && document.querySelector(location.hash)?.localName === "h2"`)
	b.Check(strings.TrimSuffix(address, "/some/where/"))
}

// The list of the examples has each of them.
func TestExamplesAreListed(t *testing.T) {
	list, err := os.ReadFile("../examples/sql/README.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("../examples/sql/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		if name := filepath.Base(script); !bytes.Contains(list, fmt.Appendf(nil, "[%s](%s)", name, name)) {
			t.Errorf("examples/sql/README.md does not list %s", name)
		}
	}
}

// The policy finds requests to other hosts.
func TestRequestsToOtherHostsAreFound(t *testing.T) {
	folder := t.TempDir()
	page := `<!DOCTYPE html><img src="http://other.invalid/a.png"><script>fetch("http://other.invalid/b")</script>`
	if err := os.WriteFile(filepath.Join(folder, "index.html"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser.New(t)
	b.Open(serve(t, folder, "/some/where/"), "true")
	for _, name := range []string{"a.png", "other.invalid/b"} {
		if !slices.ContainsFunc(b.Complaints(), func(line string) bool { return strings.Contains(line, name) }) {
			t.Errorf("the console does not speak of %s: %q", name, b.Complaints())
		}
	}
}
