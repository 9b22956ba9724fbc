package doctest

import "testing"

func TestBlocks(t *testing.T) {
	blocks, err := Blocks("# Page\n\n```sh\nls\n```\n\n```text\na\nb\n```\n\n    indented\n\n```sql drawn\nSELECT 1\n```\n")
	if err != nil || len(blocks) != 2 {
		t.Fatal(blocks, err)
	}
	if want := (Block{3, "sh", "ls\n", "a\nb"}); blocks[0] != want {
		t.Errorf("the first block is %+v, want %+v", blocks[0], want)
	}
	if want := (Block{14, "sql drawn", "SELECT 1\n", ""}); blocks[1] != want {
		t.Errorf("the second block is %+v, want %+v", blocks[1], want)
	}
	for _, page := range []string{"```sh\nls\n", "```text\nof nothing\n```\n"} {
		if _, err := Blocks(page); err == nil {
			t.Errorf("%q has blocks", page)
		}
	}
}

func TestMasked(t *testing.T) {
	if a, b := Masked("  kwh   at\n-----  ---\n-12.5    3"), Masked("kwh  at\n---  --\n  7  10"); a != b {
		t.Errorf("%q and %q differ by more than numbers", a, b)
	}
	if Masked("a 1") == Masked("b 1") {
		t.Error("words are masked")
	}
}
