package deploy

import (
	"fmt"
	"strings"
)

// AnotherBlueprint stands for differences that cannot be told apart.
const AnotherBlueprint = "its blueprint"

// shownFields is how many differences a message has.
const shownFields = 5

// Drifted says that a workspace is left as it is though it differs from what would be
// provisioned now, and what to do about it.
func Drifted(user string, fields []string) string {
	if more := len(fields) - shownFields; more > 0 {
		fields = append(fields[:shownFields:shownFields], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s keeps the settings that it was created with, which have changed since: %s; to apply them, delete it with --keep-storage and provision it again",
		user, strings.Join(fields, ", "))
}
