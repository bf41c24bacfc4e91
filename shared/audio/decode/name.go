package decode

import (
	"path/filepath"
	"strings"
)

// mediaTypes are the extensions of what is taken for a recording.
var mediaTypes = map[string]string{
	".wav": "audio/wav", ".mp3": "audio/mpeg", ".flac": "audio/flac", ".ogg": "audio/ogg", ".oga": "audio/ogg",
	".opus": "audio/ogg", ".m4a": "audio/mp4", ".m4b": "audio/mp4", ".aac": "audio/aac", ".aif": "audio/aiff",
	".aiff": "audio/aiff", ".wma": "audio/x-ms-wma", ".ac3": "audio/ac3", ".mp2": "audio/mpeg", ".mka": "audio/x-matroska",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".webm": "video/webm",
	".avi": "video/x-msvideo",
}

// MediaType is the MIME type that a file's name promises, "" for one that is no
// recording. Whether it keeps the promise, Open says.
func MediaType(name string) string { return mediaTypes[strings.ToLower(filepath.Ext(name))] }
