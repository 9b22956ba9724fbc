package console

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	page "github.com/geosql/geosql/internal/browser"
)

// A browser shows the console.
type browser struct {
	*page.Browser

	restart func() // starts the server anew
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	return &browser{Browser: page.New(t)}
}

func (b *browser) open(url string) {
	b.T.Helper()
	b.Open(url, `!document.getElementById("login").hidden || !document.getElementById("app").hidden`)
}

// login logs in by the form.
func (b *browser) login(user string) {
	b.T.Helper()
	b.Click("#login-user")
	b.Press("Ctrl+a")
	b.Write(user)
	b.Press("Tab")
	b.Write(user + "-password")
	b.Press("Enter")
	b.Until(`!document.getElementById("app").hidden`)
}

// ask writes a statement and runs it.
func (b *browser) ask(sql string) {
	b.T.Helper()
	b.Click("#sql")
	b.Press("Ctrl+a")
	b.Write(sql)
	b.Press("Ctrl+Enter")
}

// confirm waits for the cost and agrees to it.
func (b *browser) confirm() {
	b.T.Helper()
	b.Until(`document.querySelector("dialog[open]")`)
	b.Click("dialog[open] button.primary")
	b.Until(shown)
}

const (
	shown  = `document.querySelector("#result [role=tab]") && !document.querySelector("dialog[open]") && document.getElementById("cancel").hidden`
	faulty = `!document.getElementById("problem").hidden`
)

// openConsole opens the console of a new fake in a new browser with a window of a size.
func openConsole(t testing.TB, width, height int, theme string) (b *browser, f *fake, origin string) {
	t.Helper()
	b, f = newBrowser(t), newFake()
	b.Size(width, height, theme)
	return b, f, b.serve(f, Options{})
}

// serve serves a console of a fake and opens it.
func (b *browser) serve(f *fake, options Options) (origin string) {
	b.T.Helper()
	var s atomic.Pointer[Server]
	s.Store(New(f, options))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Load().ServeHTTP(w, r) }))
	b.restart = func() { s.Swap(New(f, options)).Close() }
	b.T.Cleanup(func() { s.Load().Close(); web.CloseClientConnections(); web.Close() })
	b.open(web.URL)
	return web.URL
}
