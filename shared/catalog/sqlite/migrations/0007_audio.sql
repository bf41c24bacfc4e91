-- The version that the origin lists, if the audio was replaced since without another version
-- in the listing; else NULL. Then version is a version of the replaced audio.
ALTER TABLE episode ADD COLUMN listed_version TEXT;
ALTER TABLE clip ADD COLUMN listed_version TEXT;

-- What the server reported of the audio at audio_uri when it was checked last. An episode of
-- another version keeps its row and, until they are replaced, its findings.
ALTER TABLE episode ADD COLUMN audio_checked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN audio_uri TEXT NOT NULL DEFAULT '';
ALTER TABLE episode ADD COLUMN audio_etag TEXT NOT NULL DEFAULT '';
ALTER TABLE episode ADD COLUMN audio_modified TEXT NOT NULL DEFAULT '';
ALTER TABLE episode ADD COLUMN audio_bytes INTEGER NOT NULL DEFAULT 0;
