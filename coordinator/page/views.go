package page

// views are the pages, in the order of the navigation. Code search has handlers of its own.
var views = []view{
	{"/{$}", "overview", "Overview", readOverview, false},
	{"/tasks", "tasks", "Tasks", readTasks, false},
	{"/tasks/{task}", "task", "Tasks", readTask, false},
	{"/bulk", "bulk", "Tasks", readBulk, true},
	{"/workers", "workers", "Workers", readWorkers, false},
	{"/archive", "archive", "Archive", readArchive, false},
	{"/archive/episodes/{episode}", "episode", "Archive", readEpisode, false},
	{"/archive/clips/{clip}", "clip", "Archive", readClip, false},
	{"/visits", "visits", "Visits", readVisits, false},
	{"/visits/{origin}", "origin", "Visits", readOrigin, false},
	{"/schedules", "schedules", "Schedules", readSchedules, false},
	{"/spaces", "spaces", "Spaces", readSpaces, false},
	{"/spaces/{space}", "space", "Spaces", readSpace, false},
	{"/log", "log", "Log", readLog, false},
}
