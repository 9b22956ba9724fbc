package wire

import "testing"

func TestAVerifierFitsItsPassword(t *testing.T) {
	for _, password := range []string{"secret", "a longer one, with spaces", "Å and ﬁ", "tab\tinside"} {
		v, err := NewVerifier(password, DefaultIterations)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"", "Secret", password + " ", password[:len(password)-1]} {
			if v.Fits(other) {
				t.Errorf("the verifier of %q fits %q", password, other)
			}
		}
		if !v.Fits(password) {
			t.Errorf("the verifier of %q does not fit it", password)
		}
		if v.StoredKey[0]++; v.Fits(password) {
			t.Errorf("another verifier fits %q", password)
		}
	}
	// SASLprep makes one password of these two.
	if v, err := NewVerifier("\u00c5", DefaultIterations); err != nil || !v.Fits("A\u030a") {
		t.Errorf("a composed letter does not fit the same one decomposed: %v", err)
	}
	if (Verifier{}).Fits("") || (Verifier{}).Fits("secret") || mockVerifier([]byte("k"), "bo", DefaultIterations).Fits("secret") {
		t.Error("a verifier of no password fits")
	}
}
