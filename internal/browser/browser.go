// Package browser drives Debian's chromium in tests of pages.
package browser

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/processes"
)

// An Object holds the parameters of a method, or a part of them.
type Object = map[string]any

// A Browser is a tab of Debian's chromium, without a window, controlled over a pair of pipes. Complaints and requests of all
// its tabs are collected, from the first page on.
type Browser struct {
	T testing.TB
	*process
	page string // the session of the tab's page
}

type process struct {
	to *os.File

	mu       sync.Mutex
	last     int
	waiting  map[int]chan json.RawMessage
	console  []string // complaints of the page and the browser
	requests []string // addresses that were asked for
	gone     chan struct{}
}

// New starts a browser, which ends with the test.
func New(t testing.TB) *Browser {
	t.Helper()
	program := need.Program(t, "chromium")
	profile, err := os.MkdirTemp("", "browser") // processes of the browser may write to it a little longer
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
	p := &process{to: ourIn, waiting: map[int]chan json.RawMessage{}, gone: make(chan struct{})}
	go p.listen(ours)
	t.Cleanup(func() {
		cancel()
		command.Wait()
		ourIn.Close()
		ours.Close()
	})
	return p.open(t)
}

// Tab opens another tab of the browser.
func (b *Browser) Tab() *Browser { return b.open(b.T) }

// Close closes the tab, as somebody does who leaves the page.
func (b *Browser) Close() { b.T.Helper(); b.Call("Page.close", Object{}, nil) }

func (p *process) open(t testing.TB) *Browser {
	t.Helper()
	b := &Browser{T: t, process: p}
	var target struct{ TargetID string }
	b.Call("Target.createTarget", Object{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", Object{"targetId": target.TargetID, "flatten": true}, &session)
	b.page = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "Audits"} {
		b.Call(domain+".enable", Object{}, nil)
	}
	return b
}

// listen takes the browser's messages until it ends.
func (p *process) listen(from *os.File) {
	defer close(p.gone)
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
		p.mu.Lock()
		if c := p.waiting[m.ID]; m.ID != 0 && c != nil {
			delete(p.waiting, m.ID)
			if m.Error != nil {
				m.Result, _ = json.Marshal(Object{"failed": m.Error.Message})
			}
			c <- m.Result
		}
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded":
			p.console = append(p.console, string(m.Params))
		case "Log.entryAdded":
			// A refused request is an answer that the page deals with.
			if !bytes.Contains(m.Params, []byte("the server responded with a status of 4")) {
				p.console = append(p.console, string(m.Params))
			}
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			json.Unmarshal(m.Params, &sent)
			p.requests = append(p.requests, sent.Request.URL)
		}
		p.mu.Unlock()
	}
}

// Call calls a method of the browser.
func (b *Browser) Call(method string, params, result any) {
	b.T.Helper()
	b.mu.Lock()
	b.last++
	id := b.last
	answered := make(chan json.RawMessage, 1)
	b.waiting[id] = answered
	b.mu.Unlock()
	message := Object{"id": id, "method": method, "params": params}
	if b.page != "" {
		message["sessionId"] = b.page
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.T.Fatal(err)
	}
	select {
	case text := <-answered:
		var failed struct{ Failed string }
		if json.Unmarshal(text, &failed); failed.Failed != "" {
			b.T.Fatalf("%s: %s", method, failed.Failed)
		}
		if result != nil {
			if err := json.Unmarshal(text, result); err != nil {
				b.T.Fatalf("%s answers %.300s: %v", method, text, err)
			}
		}
	case <-b.gone:
		b.T.Fatalf("%s: the browser is gone", method)
	case <-time.After(time.Minute):
		b.T.Fatalf("%s is not answered", method)
	}
}

// Eval evaluates an expression, or a promise, in the page.
func (b *Browser) Eval(expression string, into any) {
	b.T.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", Object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.T.Fatalf("%s: %.600s", expression, r.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result.Value, into); err != nil {
			b.T.Fatalf("%s is %s: %v", expression, r.Result.Value, err)
		}
	}
}

// Text returns the string that an expression is.
func (b *Browser) Text(expression string) (s string) { b.T.Helper(); b.Eval(expression, &s); return s }

// Until waits until an expression is true.
func (b *Browser) Until(condition string) {
	b.T.Helper()
	for wait := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		b.Eval("Boolean("+condition+")", &ok)
		if ok {
			return
		}
		if time.Now().After(wait) {
			b.Shoot("waited-in-vain")
			b.T.Fatalf("waited in vain for %s; the page says %s\nconsole %q", condition, b.Text("document.body.innerText"), b.Complaints())
		}
	}
}

// Size sets the size of the window and the scheme of colours.
func (b *Browser) Size(width, height int, scheme string) {
	b.T.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", Object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.Call("Emulation.setEmulatedMedia", Object{"features": []Object{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

// Open opens a page and waits until it is complete and an expression is true.
func (b *Browser) Open(url, ready string) {
	b.T.Helper()
	b.Eval("window.isLeft = true", nil)
	b.Call("Page.navigate", Object{"url": url}, nil)
	b.Until(`!window.isLeft && document.readyState === "complete" && (` + ready + `)`)
}

// Names of keys that are no characters, with their numbers.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36, " ": 32}

// Press presses keys, such as Tab, Ctrl+Enter or Shift+Tab.
func (b *Browser) Press(names ...string) {
	b.T.Helper()
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
		key := Object{"type": "keyDown", "key": name, "code": cmp.Or(map[string]string{" ": "Space"}[name], name), "windowsVirtualKeyCode": code, "modifiers": modifiers}
		if modifiers == 0 && name == "Enter" {
			key["text"] = "\r"
		}
		if modifiers == 0 && name == " " {
			key["text"] = " "
		}
		if modifiers == 2 && len(name) == 1 && name != " " {
			key["commands"] = []string{"selectAll"} // the only one that tests need
		}
		b.Call("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		delete(key, "commands")
		b.Call("Input.dispatchKeyEvent", key, nil)
	}
}

// Write types text, without key codes, so that it may have characters that no key has.
func (b *Browser) Write(text string) {
	b.T.Helper()
	for _, c := range text {
		b.Call("Input.dispatchKeyEvent", Object{"type": "char", "text": string(c)}, nil)
	}
}

// Click clicks on the first element of a selector.
func (b *Browser) Click(selector string) {
	b.T.Helper()
	var at struct{ X, Y float64 }
	b.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "nearest"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, selector), &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", Object{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Complaints returns the lines of the console, and issues that the browser has with the page.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.console)
}

// Check fails if the page has complained, or asked for anything outside of the origin, since the last check.
func (b *Browser) Check(origin string) {
	b.T.Helper()
	for _, line := range b.Complaints() {
		b.T.Errorf("the console says %.600s", line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin+"/") && !strings.HasPrefix(url, "data:") {
			b.T.Errorf("the page asks for %s", url)
		}
	}
	b.console, b.requests = nil, nil
}

// Picture returns the window's content.
func (b *Browser) Picture() image.Image {
	b.T.Helper()
	var picture struct{ Data []byte } // base64
	b.Call("Page.captureScreenshot", Object{"format": "png"}, &picture)
	decoded, err := png.Decode(bytes.NewReader(picture.Data))
	if err != nil {
		b.T.Fatal(err)
	}
	return decoded
}

// Shoot keeps a picture of the page in the folder that GEOSQL_SHOTS names, if it names one.
func (b *Browser) Shoot(name string) {
	b.T.Helper()
	folder := os.Getenv("GEOSQL_SHOTS")
	if folder == "" {
		return
	}
	var encoded bytes.Buffer
	err := png.Encode(&encoded, b.Picture())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), encoded.Bytes(), 0o600)
	}
	if err != nil {
		b.T.Fatal(err)
	}
}
