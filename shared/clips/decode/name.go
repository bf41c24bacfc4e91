package decode

import (
	"path/filepath"
	"strings"
)

// mediaTypes maps the extensions of recordings to their MIME types.
var mediaTypes = map[string]string{
	".wav": "audio/wav", ".mp3": "audio/mpeg", ".flac": "audio/flac", ".ogg": "audio/ogg", ".oga": "audio/ogg",
	".opus": "audio/ogg", ".m4a": "audio/mp4", ".m4b": "audio/mp4", ".aac": "audio/aac", ".aif": "audio/aiff",
	".aiff": "audio/aiff", ".wma": "audio/x-ms-wma", ".ac3": "audio/ac3", ".mp2": "audio/mpeg", ".mka": "audio/x-matroska",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".webm": "video/webm",
	".avi": "video/x-msvideo",
}

// MediaType returns the MIME type that the extension of a file's name stands for, or ""
// if the extension is unknown. Only Open checks the content.
func MediaType(name string) string { return mediaTypes[strings.ToLower(filepath.Ext(name))] }
