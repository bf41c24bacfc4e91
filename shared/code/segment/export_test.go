package segment

import (
	"encoding/binary"
	"hash/crc32"
)

// FixChecksums makes the checksums of the footer, the sections and the chunks of a file
// right, as far as its footer can be read.
func FixChecksums(data []byte) []byte {
	end := len(data) - len(magic) - footerSize
	if end < len(magic) {
		return data
	}
	footer := data[end : end+footerSize]
	part := func(i int) []byte {
		from, length := binary.LittleEndian.Uint64(footer[i*sectionSize:]), binary.LittleEndian.Uint64(footer[i*sectionSize+8:])
		if from > uint64(end) || length > uint64(end)-from {
			return nil
		}
		return data[from : from+length]
	}
	text, chunks := part(sectionText), part(sectionChunks)
	for i := 0; i+chunkSize <= len(chunks); i += chunkSize {
		from, to := int(binary.LittleEndian.Uint32(chunks[i:])), len(text)
		if i+2*chunkSize <= len(chunks) {
			to = int(binary.LittleEndian.Uint32(chunks[i+chunkSize:]))
		}
		if from <= to && to <= len(text) {
			binary.LittleEndian.PutUint32(chunks[i+12:], crc32.Checksum(text[from:to], castagnoli))
		}
	}
	for i := range sections {
		binary.LittleEndian.PutUint32(footer[i*sectionSize+16:], crc32.Checksum(part(i), castagnoli))
	}
	binary.LittleEndian.PutUint32(footer[footerSize-4:], crc32.Checksum(footer[:footerSize-4], castagnoli))
	return data
}
