package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
)

// A sealingHost runs a function of JavaScript, of the module seal.js and an argument, and returns its result in JSON.
type sealingHost func(t *testing.T, function string, argument any) []byte

func inNode(t *testing.T, function string, argument any) []byte {
	t.Helper()
	node := need.Program(t, "node")
	dir := devicetest.Built(t)
	text, err := json.Marshal(argument)
	check(t, err)
	script := filepath.Join(t.TempDir(), "run.mjs")
	check(t, os.WriteFile(script, []byte("import * as m from 'file://"+dir+"/seal.js'\nconst f = "+function+
		"\nconsole.log(JSON.stringify(await f(m, "+string(text)+")))"), 0o600))
	command := exec.Command(node, script)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return out
}

func inChromium(t *testing.T, function string, argument any) []byte {
	t.Helper()
	need.Program(t, "chromium")
	dir := devicetest.Built(t)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>x</title><link rel=icon href=data:>")
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	text, err := json.Marshal(argument)
	check(t, err)
	b := browser.New(t)
	b.Open(server.URL+"/", "true")
	b.Eval(fmt.Sprintf("globalThis.done = null, import('/seal.js').then(m => (%s)(m, %s)).then(x => { done = JSON.stringify(x) }, e => { done = String(e) }), 0", function, text), new(int))
	b.Until("done !== null")
	return []byte(b.Text("done"))
}

// The way of a value: a key made on the device and one of keygen, enrolment, declaration, batch, append, a private answer.
const sealsOnDevice = `async ({ seal }, { rows, ...options }) => {
	const sealer = await seal(options)
	for (const [account, values] of rows) sealer.row(account, values)
	const lines = sealer.lines()
	sealer.row('ana', { kwh: 3 })
	return [lines, sealer.lines()]
}`

func TestDeviceSeals(t *testing.T) {
	for name, host := range map[string]sealingHost{"node": inNode, "chromium": inChromium} {
		t.Run(name, func(t *testing.T) {
			p := newSealed(t)
			var key struct{ PrivateKey, PublicKey string }
			check(t, json.Unmarshal(host(t, "async ({ collectorKey }) => collectorKey()", nil), &key))
			sign := clitest.WriteFile(t, key.PrivateKey)
			check(t, os.Chmod(sign, 0o600))
			verify := clitest.WriteFile(t, key.PublicKey)
			p.run("collector", p.out, "add", "phone", "--verify", verify)
			options := map[string]any{
				"ownerKey": readAll(t, p.pub), "declaration": clitest.Run(t, "", "collector", p.out, "declaration").Out, "table": "meter", "signKey": key.PrivateKey,
				"rows": []any{
					[]any{"ana", map[string]any{"kwh": 2.26, "location": map[string]any{"lat": 48.5, "lon": 7}, "room": 4}},
					[]any{"bo", map[string]any{"kwh": 99, "room": `a "room"`}}, []any{12, map[string]any{"kwh": nil, "location": nil}},
				},
			}
			var lines []string
			out := host(t, sealsOnDevice, options)
			if err := json.Unmarshal(out, &lines); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			if r := p.addLines(strings.Join(lines, "")); r.Err != "added 4 rows of 2 sessions to meter of "+p.out+"\n" {
				t.Fatalf("%+v", r)
			}
			want := []string{"ana 4 2.5 48.5,3", "bo NULL 10 NULL", "? NULL NULL NULL", "ana NULL 3 NULL"}
			p.wantOpened(want...)
			// Go seals as the module does: the same pseudonyms of the same names.
			if r := p.addLines(readings(t, p.device("meter", sign), "ana", -1)); r.Status != 0 {
				t.Fatalf("%+v", r)
			}
			p.append("ana,5,1,,\n", "--sign", sign)
			p.wantOpened(append(want, "ana 1 -1 NULL", "ana 5 1 NULL")...)
			if n := p.count("SELECT count(DISTINCT who) || ' ' || (SELECT count(*) FROM geosql_sealed_account) FROM meter"); n != "3 3" {
				t.Errorf("pseudonyms and entries: %s", n)
			}
			// The readings are 2.5, 10, 3, -1 and 1. Noise of scale 1/5 exceeds 3 with a probability of e^-15, 3e-7.
			var sum float64
			if _, err := fmt.Sscan(clitest.Query(t, "-csv", "-noheader", "--key", p.key, p.out, "SELECT dx_sum(kwh, 5) FROM meter"), &sum); err != nil || sum < 12.5 || sum > 18.5 {
				t.Errorf("dx_sum is %v, %v", sum, err)
			}
			p.run("collector", p.out, "revoke", "phone")
			for _, row := range opened(t, p.out, p.key) {
				if !strings.HasPrefix(row, "? ") {
					t.Errorf("%s is there after the revocation", row)
				}
			}
		})
	}
}

// Errors tell the argument, and nothing of a secret. Without entropy there is no key and no batch.
func TestDeviceRefuses(t *testing.T) {
	p := newSealed(t)
	key, pub := p.keygen(clitest.TempFile(t, "c"))
	declaration := clitest.Run(t, "", "collector", p.out, "declaration").Out
	options := map[string]string{"ownerKey": readAll(t, p.pub), "declaration": declaration, "table": "meter", "signKey": readAll(t, key)}
	with := func(name, text string) string {
		changed := map[string]string{}
		for k, v := range options {
			changed[k] = v
		}
		changed[name] = text
		b, err := json.Marshal(changed)
		check(t, err)
		return "s(" + string(b) + ")"
	}
	row := func(arguments string) string { return with("table", "METER") + ".then(s => s.row(" + arguments + "))" }
	const noEntropy = "(globalThis.crypto.getRandomValues = () => { throw new Error('no entropy') }, 0), "
	cases := []struct{ do, want string }{
		{with("ownerKey", readAll(t, key)), "ownerKey must be the text of a GEOSQL PUBLIC KEY"},
		{with("signKey", readAll(t, pub)), "signKey must be the text of a GEOSQL PRIVATE KEY"},
		{with("signKey", strings.Replace(readAll(t, key), "KEY-----\n", "KEY-----\nAAAA", 1)), "is not a private key of geosql"},
		{with("table", "meters"), "has no sealed table of this name"},
		{with("declaration", strings.Replace(declaration, `"hi":10`, `"hi":100`, 1)), "the declaration differs"},
		{with("declaration", strings.Replace(declaration, `"salt":"`, `"salt":"AAAA`, 1)), "the declaration differs"},
		{with("declaration", strings.Replace(declaration, `"name":"room"`, `"name":"phone"`, 1)), "the declaration differs"},
		{with("declaration", "{}"), "another type"},
		{row(`"*", {}`), "stands for every account"},
		{row(`{}, {}`), "account must be a text or a whole number"},
		{row(`"ana", { who: "ana" }`), "the account is the first argument"},
		{row(`"ana", { kw: 4.25 }`), "there is no column kw"},
		{row(`"ana", { kwh: "4.25" }`), "kwh must be a finite number"},
		{row(`"ana", { kwh: NaN }`), "kwh must be a finite number"},
		{row(`"ana", { location: { lat: 94.25, lon: 2 } }`), "lat must lie between -90 and 90"},
		{row(`"ana", { location: 4.25 }`), "lat must be a finite number"},
		{row(`"ana", { room: true }`), "room must be a finite number"},
		{noEntropy + row(`"ana", { kwh: 4.25 }`) + ".then(() => m.collectorKey())", "no entropy"},
		{"m.collectorKey()", "sealing has failed before"},
	}
	var text strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&text, "await (async () => (%s))().then(() => 'nothing', e => e.message),\n", c.do)
	}
	var said []string
	check(t, json.Unmarshal(inNode(t, "async m => { const s = m.seal; return ["+text.String()+"] }", nil), &said))
	for i, c := range cases {
		if !strings.Contains(said[i], c.want) || regexp.MustCompile(`4\.25`).MatchString(said[i]) {
			t.Errorf("%s: %q, want %q", c.do[max(0, len(c.do)-80):], said[i], c.want)
		}
	}
}
