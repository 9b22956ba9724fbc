package console

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/processes"
)

// A browser is Debian's chromium, without a window, controlled over a pair of pipes. Complaints and requests of its page
// are collected, from the first page on.
type browser struct {
	t    testing.TB
	to   *os.File
	page string // the session of the page

	restart func() // starts the server anew

	mu       sync.Mutex
	last     int
	waiting  map[int]chan json.RawMessage
	console  []string // complaints of the page and the browser
	requests []string // addresses that were asked for
	gone     chan struct{}
}

// newBrowser starts a browser with a page of a size.
func newBrowser(t testing.TB) *browser {
	t.Helper()
	program := need.Program(t, "chromium")
	profile, err := os.MkdirTemp("", "console") // processes of the browser may write to it a little longer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	theirOut, ourIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	// The sandbox needs a kernel and a user that a build machine may not have, and the page is our own.
	command := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "--lang=en-GB", "about:blank")
	command.ExtraFiles = []*os.File{theirOut, theirs}
	processes.Group(command)
	command.Cancel = func() error { return processes.KillGroup(command.Process) }
	command.WaitDelay = time.Minute
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	theirOut.Close()
	b := &browser{t: t, to: ourIn, waiting: map[int]chan json.RawMessage{}, gone: make(chan struct{})}
	go b.listen(ours)
	t.Cleanup(func() {
		cancel()
		command.Wait()
		ourIn.Close()
		ours.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", object{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &session)
	b.page = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "Audits"} {
		b.call(domain+".enable", object{}, nil)
	}
	return b
}

// listen takes the browser's messages until it ends.
func (b *browser) listen(from *os.File) {
	defer close(b.gone)
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil {
			return
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
			delete(b.waiting, m.ID)
			if m.Error != nil {
				m.Result, _ = json.Marshal(object{"failed": m.Error.Message})
			}
			c <- m.Result
		}
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded":
			b.console = append(b.console, string(m.Params))
		case "Log.entryAdded":
			// A refused request is an answer that the page deals with.
			if !bytes.Contains(m.Params, []byte("the server responded with a status of 4")) {
				b.console = append(b.console, string(m.Params))
			}
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			json.Unmarshal(m.Params, &p)
			b.requests = append(b.requests, p.Request.URL)
		}
		b.mu.Unlock()
	}
}

// call calls a method of the browser.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.mu.Lock()
	b.last++
	id := b.last
	answered := make(chan json.RawMessage, 1)
	b.waiting[id] = answered
	b.mu.Unlock()
	message := object{"id": id, "method": method, "params": params}
	if b.page != "" {
		message["sessionId"] = b.page
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	select {
	case text := <-answered:
		var failed struct{ Failed string }
		if json.Unmarshal(text, &failed); failed.Failed != "" {
			b.t.Fatalf("%s: %s", method, failed.Failed)
		}
		if result != nil {
			if err := json.Unmarshal(text, result); err != nil {
				b.t.Fatalf("%s answers %.300s: %v", method, text, err)
			}
		}
	case <-b.gone:
		b.t.Fatalf("%s: the browser is gone", method)
	case <-time.After(time.Minute):
		b.t.Fatalf("%s is not answered", method)
	}
}

// eval evaluates an expression, or a promise, in the page.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %.600s", expression, r.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result.Value, into); err != nil {
			b.t.Fatalf("%s is %s: %v", expression, r.Result.Value, err)
		}
	}
}

func (b *browser) text(expression string) (s string) { b.t.Helper(); b.eval(expression, &s); return s }

// until waits until an expression is true.
func (b *browser) until(condition string) {
	b.t.Helper()
	for wait := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		b.eval("Boolean("+condition+")", &ok)
		if ok {
			return
		}
		if time.Now().After(wait) {
			b.shoot("waited-in-vain")
			b.t.Fatalf("waited in vain for %s; the page says %s\nconsole %q", condition, b.text("document.body.innerText"), b.complaints())
		}
	}
}

// size sets the size of the window and the scheme of colours.
func (b *browser) size(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", object{"url": url}, nil)
	b.until(`document.readyState === "complete" && (!document.getElementById("login").hidden || !document.getElementById("app").hidden)`)
}

// Names of keys that are no characters, with their numbers.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36, " ": 32}

// press presses keys, such as Tab, Ctrl+Enter or Shift+Tab.
func (b *browser) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		modifiers := 0
		for prefix, bit := range map[string]int{"Ctrl+": 2, "Shift+": 8} {
			if rest, found := strings.CutPrefix(name, prefix); found {
				name, modifiers = rest, bit
			}
		}
		code := keys[name]
		if code == 0 {
			code = int(strings.ToUpper(name)[0])
		}
		key := object{"type": "keyDown", "key": name, "code": cmp.Or(map[string]string{" ": "Space"}[name], name), "windowsVirtualKeyCode": code, "modifiers": modifiers}
		if modifiers == 0 && name == "Enter" {
			key["text"] = "\r"
		}
		if modifiers == 0 && name == " " {
			key["text"] = " "
		}
		if modifiers == 2 && len(name) == 1 && name != " " {
			key["commands"] = []string{"selectAll"} // the only one that tests need
		}
		b.call("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		delete(key, "commands")
		b.call("Input.dispatchKeyEvent", key, nil)
	}
}

// write types text, without key codes, so that it may have characters that no key has.
func (b *browser) write(text string) {
	b.t.Helper()
	for _, c := range text {
		b.call("Input.dispatchKeyEvent", object{"type": "char", "text": string(c)}, nil)
	}
}

// click clicks on the first element of a selector.
func (b *browser) click(selector string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "nearest"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, selector), &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", object{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// login logs in by the form.
func (b *browser) login(user string) {
	b.t.Helper()
	b.click("#login-user")
	b.press("Ctrl+a")
	b.write(user)
	b.press("Tab")
	b.write(user + "-password")
	b.press("Enter")
	b.until(`!document.getElementById("app").hidden`)
}

// ask writes a statement and runs it.
func (b *browser) ask(sql string) {
	b.t.Helper()
	b.click("#sql")
	b.press("Ctrl+a")
	b.write(sql)
	b.press("Ctrl+Enter")
}

// confirm waits for the cost and agrees to it.
func (b *browser) confirm() {
	b.t.Helper()
	b.until(`document.querySelector("dialog[open]")`)
	b.click("dialog[open] button.primary")
	b.until(shown)
}

const (
	shown  = `document.querySelector("#result [role=tab]") && !document.querySelector("dialog[open]") && document.getElementById("cancel").hidden`
	faulty = `!document.getElementById("problem").hidden`
)

func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.console)
}

// check fails if the page has complained, or asked for anything outside of the origin.
func (b *browser) check(origin string) {
	b.t.Helper()
	for _, line := range b.complaints() {
		b.t.Errorf("the console says %.600s", line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin+"/") {
			b.t.Errorf("the page asks for %s", url)
		}
	}
}

// shoot keeps a picture of the page in the folder that GEOSQL_SHOTS names, if it names one.
func (b *browser) shoot(name string) {
	b.t.Helper()
	folder := os.Getenv("GEOSQL_SHOTS")
	if folder == "" {
		return
	}
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", object{"format": "png"}, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), data, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// openConsole opens the console of a new fake in a new browser with a window of a size.
func openConsole(t testing.TB, width, height int, theme string) (b *browser, f *fake, origin string) {
	t.Helper()
	b, f = newBrowser(t), newFake()
	b.size(width, height, theme)
	return b, f, b.serve(f, Options{})
}

// serve serves a console of a fake and opens it.
func (b *browser) serve(f *fake, options Options) (origin string) {
	b.t.Helper()
	var s atomic.Pointer[Server]
	s.Store(New(f, options))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Load().ServeHTTP(w, r) }))
	b.restart = func() { s.Swap(New(f, options)).Close() }
	b.t.Cleanup(func() { s.Load().Close(); web.CloseClientConnections(); web.Close() })
	b.open(web.URL)
	return web.URL
}
