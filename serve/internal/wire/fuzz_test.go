package wire

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
)

// FuzzVerifier reads texts as verifiers. A verifier is written as a text that means the same.
func FuzzVerifier(f *testing.F) {
	v := mockVerifier([]byte("k"), "ana", DefaultIterations)
	for _, text := range []string{"", v.String(), strings.Replace(v.String(), "$4096:", "$-1:", 1), strings.ReplaceAll(v.String(), "$", ":"),
		strings.Replace(v.String(), "256$", "256$$", 1), v.String()[:60], v.String() + "=", mechanism + "$1:$:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVerifier(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		again, err := ParseVerifier(v.String())
		if err != nil || again.Iterations != v.Iterations || !bytes.Equal(again.Salt, v.Salt) ||
			!bytes.Equal(again.StoredKey, v.StoredKey) || !bytes.Equal(again.ServerKey, v.ServerKey) {
			t.Errorf("%q becomes %q: %v", text, v, err)
		}
	})
}

// FuzzSCRAM has a client that does not know the password say anything in both of its turns: it never gets in.
// Its messages may refer to the server's nonce as R.
func FuzzSCRAM(f *testing.F) {
	v := mockVerifier([]byte("k"), "ana", DefaultIterations)
	proof := base64.StdEncoding.EncodeToString(make([]byte, 32))
	f.Add("n,,n=,r=abcdefgh", "c=biws,r=R,p="+proof, false)
	f.Add("n,,n=ana,r=abcdefgh", "c=biws,r=R,p="+base64.StdEncoding.EncodeToString(v.StoredKey), false)
	f.Add("y,,n=,r=abcdefgh", "c=eSws,r=R,p="+proof, true)
	f.Add("p=tls-server-end-point,,n=,r=abcdefgh", "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsaGFzaA==,r=R,p="+proof, true)
	f.Add("n,a=bo,n==2C=3D,r=,", "c=,r=,p=", false)
	f.Add("", "", false)
	f.Fuzz(func(t *testing.T, first, final string, tls bool) {
		var binding scram.ChannelBinding
		if tls {
			binding = scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint, Data: []byte("hash")}
		}
		c, err := v.conversation(binding)
		if err != nil {
			t.Fatal(err)
		}
		challenge, err := c.Step(first)
		if err == nil {
			nonce, _, found := strings.Cut(strings.TrimPrefix(challenge, "r="), ",")
			if !found || !strings.HasSuffix(challenge, ",s="+base64.StdEncoding.EncodeToString(v.Salt)+",i=4096") {
				t.Errorf("%q is answered by %q", first, challenge)
			}
			_, err = c.Step(strings.Replace(final, "R", nonce, 1))
		}
		if err == nil || c.Valid() {
			t.Errorf("%q and %q log in: %v", first, final, err)
		}
	})
}
