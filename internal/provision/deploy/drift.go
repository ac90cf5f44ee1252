package deploy

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/fault"
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
	return fmt.Sprintf("%s keeps the settings that it was created with, which have changed since: %s; apply them with %s",
		user, strings.Join(fields, ", "), "`"+fault.Command("berth", "update", user)+"`")
}
