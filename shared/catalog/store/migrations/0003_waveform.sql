-- The waveform of an episode, in its current version. peaks has a byte for each of equal parts.
CREATE TABLE waveform (
  episode  INTEGER PRIMARY KEY REFERENCES episode ON DELETE CASCADE,
  duration REAL NOT NULL, -- seconds
  peaks    BLOB NOT NULL
);
