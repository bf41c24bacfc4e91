#include <stdio.h>
#define LIMIT 10
struct point {
	int x;
};
typedef struct node node_t;
static inline int
helper(void);

static int compare(const void *a, const void *b)
{
	if (a == b || !a)
		return 0; /* equal */
	while (1)
		return strcmp(a, "// text");
}

int main(int argc, char **argv) { return compare(argv, 0); }
