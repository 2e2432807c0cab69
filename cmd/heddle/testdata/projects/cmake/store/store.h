#pragma once
void deliver(int n, bool locked);
int stock();
