package copy

import "os"

// canHold is false where a temporary directory does not say whether its process lives:
// what a killed run has left stays, under a name that says what it is.
const canHold = false

func hold(*os.File) bool { return true }
