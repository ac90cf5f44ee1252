package v1

// Error is printed in place of a command's document when it fails.
type Error struct {
	TypeMeta
	// Code is one of the codes of `berth help exit-codes`.
	Code string `json:"code"`
	// Reason tells errors of one code apart: USER_UNKNOWN, USER_LOCKED, USER_INVALID, BLUEPRINT_NOT_ALLOWED,
	// PROVIDER_UNAVAILABLE, REPOSITORY_NOT_VISIBLE, RECORD_UNREADABLE, STORAGE_OF_ANOTHER, INIT_SCRIPT_FAILED, STUCK.
	Reason     string `json:"reason,omitempty"`
	ExitStatus int    `json:"exitStatus"`
	Message    string `json:"message"`
	Detail     string `json:"-"` // the part of Message after how and when the command ended
	Hint       string `json:"hint,omitempty"`
	// Problems are the parts of an error that found more than one, each a line.
	Problems []string `json:"problems,omitempty"`
	// Excerpts are the lines of files that the problems are about, each with a mark below at the place: one for each
	// problem, empty for a problem that is not about a line. Omitted if no problem is.
	Excerpts []string `json:"excerpts,omitempty"`
	// Workspace is the state of the workspace when the command gave up.
	Workspace *Workspace `json:"workspace,omitempty"`
	// Logs are the last lines of the container that failed.
	Logs *LogTail `json:"logs,omitempty"`
	// Left says what became of what there was on the cluster when provisioning gave up.
	Left Left `json:"left,omitempty"`
}

// Left says what became of a workspace that could not be brought up.
type Left string

// What can become of it.
const (
	LeftKept    Left = "kept"
	LeftDeleted Left = "deleted"
)

// LogTail is the end of a container's log.
type LogTail struct {
	Container string   `json:"container"`
	Script    string   `json:"script,omitempty"`   // the init script that has failed, if it is its output alone
	Previous  bool     `json:"previous,omitempty"` // of the instance before the last restart
	Lines     []string `json:"lines"`
}

// Version is the answer to `berth version`.
type Version struct {
	TypeMeta
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Newest is the newest release; empty unless it was asked for.
	Newest string `json:"newest,omitempty"`
}
