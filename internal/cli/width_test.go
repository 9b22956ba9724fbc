package cli

import "testing"

// Characters of East Asia are wide, and combining ones take no column.
func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "ana": 3, "Zoë": 3, "Zoe\u0308": 3, "山田": 4, "ｶ": 1, "한국": 4, "e\u0301\u0323": 1, "🚲": 2, "a山": 3} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text       string
		columns    int
		head, tail string
	}{
		{"", 3, "", ""}, {"ana", 5, "ana", ""}, {"ana", 2, "an", "a"}, {"ana", 0, "", "ana"}, {"ana", -1, "", "ana"},
		{"山田太郎", 5, "山田", "太郎"}, {"e\u0301e\u0301", 1, "e\u0301", "e\u0301"},
	} {
		if head, tail := Cut(c.text, c.columns); head != c.head || tail != c.tail {
			t.Errorf("Cut(%q, %d) = %q, %q", c.text, c.columns, head, tail)
		}
	}
}
