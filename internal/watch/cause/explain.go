package cause

// explanation is what there is to read about a cause apart from a case of it:
// what `berth explain` and docs/causes.md show.
type explanation struct {
	// title says in a few words what it is: "The image does not exist".
	title string
	// meaning is a paragraph for a reader who does not know Kubernetes well.
	meaning string
	// signs are what it is recognized by, in kubectl's words: where to look, and
	// what stands there.
	signs []string
	// remedies are what to do, each a sentence, the likeliest first.
	remedies []string
	// passes says by what it passes without anybody doing anything; empty if it
	// does not.
	passes string
	// example is the dump in testdata/cases of which the example is made.
	example string
}
