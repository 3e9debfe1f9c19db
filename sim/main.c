#include <stdio.h>

int main(void)
{
    fputs("tally-sim: no profiles yet\n", stderr);
    return 2;
}
