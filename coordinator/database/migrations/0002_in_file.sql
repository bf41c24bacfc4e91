-- The counter that the file has without its log: see coordinator/database.
ALTER TABLE pair ADD COLUMN in_file INTEGER NOT NULL DEFAULT 0;
