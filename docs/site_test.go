// Package docs tests the pages and the site that is made of them.
package docs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
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
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/processes"
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
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"

// visit has a browser run a script over the pages of a folder, which is served under a path, and
// returns the pages' lines on the console. The script calls report once, with its findings.
func visit(t *testing.T, folder, under, script string, report any) (console []string) {
	t.Helper()
	chromium := need.Program(t, "chromium")
	reported := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.Handle(under, http.StripPrefix(strings.TrimSuffix(under, "/"), http.FileServer(http.Dir(folder))))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /visitor", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!DOCTYPE html><iframe width=1200 height=900></iframe><script>const site = %q;\n%s\n%s</script>", under, visitor, script)
	})
	mux.HandleFunc("POST /report", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reported <- body
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		mux.ServeHTTP(w, r)
	}))
	defer server.Close()
	profile, err := os.MkdirTemp("", "visitor") // processes that the browser leaves running may write it a little longer
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	// The sandbox needs a kernel and a user that a build machine may not have. With a port for
	// debugging the browser stays until it is killed.
	command := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--enable-logging=stderr", "--remote-debugging-port=0", server.URL+"/visitor")
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	processes.Group(command)
	command.Cancel = func() error { return processes.KillGroup(command.Process) }
	command.WaitDelay = time.Minute
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	complete, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if said = append(said, lines.Text()); strings.Contains(lines.Text(), lastWords) {
				close(complete)
			}
		}
	}()
	var body []byte
	select {
	case body = <-reported:
		select { // lines of the console are written with a delay
		case <-complete:
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	cancel()
	<-ended
	command.Wait()
	if err := json.Unmarshal(body, report); err != nil {
		t.Fatalf("the visitor reports %q: %v\n%s", body, err, strings.Join(said, "\n"))
	}
	for _, line := range said {
		if strings.Contains(line, ":CONSOLE") && !strings.Contains(line, lastWords) {
			console = append(console, line)
		}
	}
	return console
}

// lastWords is a visitor's last line on the console before it reports.
const lastWords = "the visitor has seen it all"

// visitor is the functions that scripts of visitors call.
const visitor = `
const frame = document.querySelector("iframe");
const $ = selector => frame.contentDocument.querySelector(selector);
const $$ = selector => [...frame.contentDocument.querySelectorAll(selector)];
async function until(what, condition) {
  for (let i = 0; i < 1200; i++) {
    const value = condition();
    if (value) return value;
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  throw new Error("waited in vain for " + what);
}
async function open(page) {
  frame.src = site + page;
  await new Promise(resolve => frame.onload = resolve);
  await until(page + " to come alive", () => $("#app")?.__vue_app__);
}
const here = () => frame.contentWindow.location.pathname.slice(site.length);
function report(found) { return fetch("/report", {method: "POST", body: JSON.stringify(found)}); }
async function main(found, steps) {
  try { await steps(found); } catch (error) { found.Error = String(error); }
  console.log("` + lastWords + `");
  await report(found);
}`

// searches are words and the pages that a search for them has to find first, the last one a section.
const searches = `{
	"how much noise": "questions.html#how-much-noise", "group by": "questions.html#how-do-i-group-by", "timezone": "questions.html#which-time-zone",
	"how many people": "questions.html#how-many-people", "delete a person": "questions.html#how-do-i-delete", "budget is empty": "questions.html#the-budget-is-empty",
	"kettle": "first-answer-meters.html", "antimeridian": "reference.html", "geoind_epsilon_for": "reference.html#geoind_epsilon_for"}`

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
	pages = trials.Some(t, 12, pages...)
	list, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Error         string
		Headings      map[string]string
		Broken        []string
		Opened, Shown string
	}
	console := visit(t, folder, "/some/where/", fmt.Sprintf(`main({Headings: {}, Broken: []}, async found => {
  for (const page of %s) {
    await open(page);
    found.Headings[page] = $("h1")?.textContent ?? "";
    for (const image of $$("main img")) {
      await image.decode().catch(() => {});
      if (!image.naturalWidth || !image.alt) found.Broken.push(page + ": " + image.src);
    }
  }
  await open("index.html");
  $("main a[href$='threat-model.html']").click();
  await until("the next page", () => here() === "threat-model.html" && $("h1")?.textContent.startsWith("Threat model"));
  $("button.DocSearch-Button").click();
  const input = await until("the search", () => $(".VPLocalSearchBox input"));
  const results = () => $$(".VPLocalSearchBox a.result").map(a => new URL(a.href)).map(url => url.pathname.slice(site.length) + url.hash);
  for (const [word, first] of Object.entries(%s)) {
    input.value = word;
    input.dispatchEvent(new frame.contentWindow.Event("input", {bubbles: true}));
    await until(word + " in " + first, () => results()[0]?.startsWith(first));
  }
  $(".VPLocalSearchBox a.result").click();
  await until("the page that was found", () => here() === "reference.html" && $("h1")?.textContent.startsWith("Reference"));
  found.Opened = here() + frame.contentWindow.location.hash;
  found.Shown = $(frame.contentWindow.location.hash)?.textContent ?? "";
})`, list, searches), &found)
	if found.Error != "" {
		t.Error(found.Error)
	}
	for _, line := range console {
		t.Errorf("the console says %s", line)
	}
	for _, page := range pages {
		if found.Headings[page] == "" {
			t.Errorf("%s has no heading", page)
		}
	}
	for _, image := range found.Broken {
		t.Errorf("a picture does not show, or has no text in its place: %s", image)
	}
	if found.Opened != "reference.html#geoind_epsilon_for" || !strings.HasPrefix(found.Shown, "geoind_epsilon_for") {
		t.Errorf("the first result opens %s, %q", found.Opened, found.Shown)
	}
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
	var found struct{ Error string }
	console := visit(t, folder, "/some/where/", `main({}, async () => {
  frame.src = site;
  await new Promise(resolve => frame.onload = resolve);
})`, &found)
	for _, name := range []string{"a.png", "other.invalid/b"} {
		if !slices.ContainsFunc(console, func(line string) bool { return strings.Contains(line, name) }) {
			t.Errorf("the console does not speak of %s: %q", name, console)
		}
	}
}
