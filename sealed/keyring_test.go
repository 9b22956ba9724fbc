package sealed

import "testing"

func TestDerivedKeys(t *testing.T) {
	a, b := newTestKey(t), newTestKey(t)
	database, other := DatabaseID{1}, DatabaseID{2}
	derive := func(id DatabaseID, purpose string, keys ...*PrivateKey) [32]byte {
		t.Helper()
		k, err := NewKeyring(keys...).Derive(id, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := derive(database, "questions", a, b)
	if got := derive(database, "questions", b, a, b); got != want {
		t.Error("the derived key depends on the order of keys")
	}
	for name, k := range map[string][32]byte{
		"other purpose":  derive(database, "question", a, b),
		"other database": derive(other, "questions", a, b),
		"one key":        derive(database, "questions", a),
		"another key":    derive(database, "questions", b),
		"zero":           {},
	} {
		if k == want {
			t.Errorf("the derived key is the same: %s", name)
		}
	}
	if _, err := NewKeyring().Derive(database, "questions"); err == nil {
		t.Error("a keyring without keys derives one")
	}
}

func newTestKey(t *testing.T) *PrivateKey {
	t.Helper()
	k, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}
